// Place: where a record whose producer knows nothing of the wire contract has its id or its sequence. Of a doubled
// header the last one counts.
//
//   place := "key" | "header:" name
//
// Thread rule: any thread; pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/header.h"

namespace reseq::codec {

struct Place {
  std::string header;  // empty = the key
  [[nodiscard]] bool is_key() const { return header.empty(); }
  friend bool operator==(const Place&, const Place&) = default;
};

// Empty when the text is no place.
[[nodiscard]] std::optional<Place> parse_place(std::string_view text);

// The value at a place. Absent: no such header, or it or the key is null.
[[nodiscard]] std::optional<std::string_view> value_at(const Place& place, std::optional<std::string_view> key,
                                                       std::span<const Header> headers);

// Where requests have what the key and reseq-seq say otherwise (`input.id`, `input.sequence`).
struct InputPlaces {
  Place id;
  std::optional<Place> sequence;  // absent: reseq-seq
};

}  // namespace reseq::codec
