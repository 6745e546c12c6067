// Record headers as views, and changes to them. The bytes belong to the record or to the batch.
// Thread rule: plain values.
#pragma once

#include <optional>
#include <string_view>

namespace reseq {

// A header as it stands in the record. A null value is not an empty one.
struct Header {
  std::string_view name;
  std::optional<std::string_view> value;
};

// One change to the headers of a record. `value` empty = remove all of that name; otherwise all of that name are
// removed, then name: value is added.
struct HeaderEdit {
  std::string_view name;
  std::optional<std::string_view> value;
};

}  // namespace reseq
