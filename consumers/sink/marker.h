// Marker: what an output says of a document that was given up for its target, `reseq-op: failed` (schemas/wire.md). Its
// payload is a note, {"reason":..,"error":..,"attempts":..,"failed_at":..}. A marker counts whatever its note holds:
// what cannot be read of it is left out.
// Invariant: texts are UTF-8 without NUL, and short, whatever the record held: every store takes them.
// Thread rule: plain values, pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "consumers/sink/change.h"

namespace reseq::sink {

inline constexpr std::size_t kMarkerTextMax = 1'024;  // bytes; as much as an error may have

struct Marker {
  std::string reason = "failed";
  std::optional<std::string> error{};  // what the last attempt said, if it did
  std::optional<std::uint32_t> attempts{};
  std::optional<std::string> failed_at{};

  // Why the document is not there. Never empty.
  [[nodiscard]] const std::string& why() const { return error ? *error : reason; }
};

// REQUIRES: change.op is kFailed
[[nodiscard]] Marker marker_of(const Change& change);

// The note as it is stored: one JSON object on one line.
[[nodiscard]] std::string note_of(const Marker& marker);

}  // namespace reseq::sink
