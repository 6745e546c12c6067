// Dead letters: the input as it came, with why and from where in its headers, and with the headers that the tools of
// Kafka Streams (KIP-1034) or Spring read, if wanted. A dead letter always fits its topic: what is too large is left
// out and its size told, first the payload, then the input's headers, then the key. Thread rule: any thread; the arena
// is used by one.
#pragma once

#include <optional>
#include <string_view>

#include "codec/output_encoder.h"
#include "model/effects.h"

namespace reseq::codec {

[[nodiscard]] OutputRecord dead_letter(const DeadLetter& letter, const InputRecord& input, const EncodeContext& context,
                                       Arena& arena);

// What kFirstWritten says; nothing when it is no time.
[[nodiscard]] std::optional<UnixMs> parse_first_written(std::string_view text);

// A dead letter adds it: it is none of the input's own.
[[nodiscard]] bool is_added_to_dead_letters(std::string_view name);

}  // namespace reseq::codec
