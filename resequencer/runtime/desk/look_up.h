// What the page tells of one document: what `describe` and `why` do, asked of whichever instance has it, and the events
// topic. Bounded in time and in what it reads, because anybody on this host may ask.
// Thread rule: any thread; it opens clients of its own and waits for answers.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "config/settings.h"
#include "http/server.h"
#include "kafka/settings.h"

namespace reseq::runtime {

// Parameter `id`: the document's id in base64url without padding (RFC 4648, section 5), because ids are any bytes and
// the line of a request has to hold 4096 of them. Parameter `last`: how many events, 1 to 1000; 20 without it. The
// answer is JSON, or 400 and a text. `stop`: give up soon. `client_log`: as of an Application.
[[nodiscard]] http::Answer look_up(const config::Settings& settings, const kafka::LogCallback& client_log,
                                   const http::Question& asked, const std::atomic<bool>& stop);

// The bytes of `text`; nothing when it is not the base64url of 1 to 4096 bytes.
[[nodiscard]] std::optional<std::string> id_of(std::string text);

}  // namespace reseq::runtime
