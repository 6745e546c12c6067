// Changes as sinks get them.
#pragma once

#include <optional>
#include <string_view>

#include "consumers/sink/change.h"

namespace reseq::sink {

inline Change upsert(std::string_view id, std::uint64_t version, std::string_view payload) {
  return {.id = id, .seq = "1", .version = Version(version), .op = ChangeOp::kUpsert, .payload = payload};
}
inline Change removal(std::string_view id, std::uint64_t version) {
  return {.id = id, .seq = "2", .version = Version(version), .op = ChangeOp::kDelete, .payload = std::nullopt};
}
inline Change marker(std::string_view id, std::uint64_t version, std::string_view error) {
  return {.id = id,
          .seq = "3",
          .version = Version(version),
          .op = ChangeOp::kFailed,
          .payload = R"({"reason":"failed","attempts":3})",
          .error = error};
}

}  // namespace reseq::sink
