// IndexKey: where a row stands in an index. Derived from rows, as timers are, and kept in the same table on disk, in
// front of them: the first byte of a timer is 80 or above, because no time is below 1970.
//
//   index key := index u8, below 80 | length of the entry u8 | entry | key of the row
//
// The length stands in front, so that it is known where an entry ends, and keys compare as (index, length of the entry,
// entry, key of the row).
// Thread rule: plain value.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reseq::store {

struct IndexKey {
  std::uint8_t index = 0;
  std::string_view entry;
  std::string_view row;
  friend bool operator==(const IndexKey&, const IndexKey&) = default;
};
// As their keys do: what is merged from memory and disk has the order that both are stored in.
[[nodiscard]] std::strong_ordering operator<=>(const IndexKey& a, const IndexKey& b);

void append_index_key(const IndexKey& key, std::string& out);
// Views into `bytes`; none when they are no such key.
[[nodiscard]] std::optional<IndexKey> parse_index_key(std::string_view bytes);

// Calls visit(key) for each that an encoded row has. REQUIRES: the row was encoded by this process or checked.
void each_index_key(std::string_view row, std::string_view value, const std::function<void(const std::string&)>& visit);

}  // namespace reseq::store
