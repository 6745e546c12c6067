// Result size: whether a result fits the topic that it goes to. It is asked before anything is sent: a producer would
// not go on after such a record, and within a transaction it would abort it, again and again.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "model/header.h"

namespace reseq::stage {

// The bytes that it takes in the log, as an upper bound. kInvalid: more than `topic_max`, the max.message.bytes of its
// topic.
[[nodiscard]] Result<std::uint64_t> fitting_bytes(std::optional<std::string_view> key,
                                                  std::optional<std::string_view> payload,
                                                  std::span<const Header> headers, std::uint64_t topic_max);

}  // namespace reseq::stage
