#include "store/index_key.h"

#include <tuple>

#include "base/assert.h"
#include "codec/row_kinds.h"
#include "model/effects.h"

namespace reseq::store {
namespace {

constexpr std::size_t kHeadBytes = 2;

}  // namespace

std::strong_ordering operator<=>(const IndexKey& a, const IndexKey& b) {
  const auto parts = [](const IndexKey& key) { return std::tuple(key.index, key.entry.size(), key.entry, key.row); };
  return parts(a) <=> parts(b);
}

void append_index_key(const IndexKey& key, std::string& out) {
  RESEQ_ASSERT(key.index < kIndexes && key.entry.size() <= kMaxIndexEntryBytes, "an entry outside its limits");
  out.reserve(out.size() + kHeadBytes + key.entry.size() + key.row.size());
  out.push_back(static_cast<char>(key.index));
  out.push_back(static_cast<char>(key.entry.size()));
  out.append(key.entry);
  out.append(key.row);
}

std::optional<IndexKey> parse_index_key(std::string_view bytes) {
  if (bytes.size() <= kHeadBytes) return std::nullopt;
  const auto index = static_cast<std::uint8_t>(bytes[0]);
  const std::size_t length = static_cast<std::uint8_t>(bytes[1]);
  if (index >= kIndexes || length > kMaxIndexEntryBytes || bytes.size() <= kHeadBytes + length) return std::nullopt;
  return IndexKey{index, bytes.substr(kHeadBytes, length), bytes.substr(kHeadBytes + length)};
}

void each_index_key(std::string_view row, std::string_view value,
                    const std::function<void(const std::string&)>& visit) {
  const codec::RowKind* const kind = codec::row_kind_of(row);
  if (kind == nullptr || !codec::may_have_entries(*kind, value)) return;
  std::string key;
  kind->entries(value, [&](std::uint8_t index, std::string_view entry) {
    key.clear();
    append_index_key({index, entry, row}, key);
    visit(key);
  });
}

}  // namespace reseq::store
