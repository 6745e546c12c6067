// One request to one broker in Kafka's protocol, past the proxy, and its answer.
// Thread rule: plain function; each call makes a connection of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/chaos/proxy/wire.h"

namespace reseq::chaos {

// What follows the client id in the request, and the correlation in the answer; in flexible versions (KIP-482) the tags
// of the header come first in both. Nothing: no whole answer within the limit.
[[nodiscard]] std::optional<std::string> call(std::uint16_t port, Api api, std::int16_t version, const WireWriter& body,
                                              std::chrono::milliseconds limit);

}  // namespace reseq::chaos
