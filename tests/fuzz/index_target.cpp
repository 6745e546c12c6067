// Keys of index entries and of timers, which share a table. Any bytes are the one key of an entry or no key; keys
// compare as what they are made of, and none of an index is one of a timer. A held row stands in the indexes that its
// value says, and nowhere else.
#include <algorithm>
#include <string>
#include <vector>

#include "base/assert.h"
#include "codec/held_rows.h"
#include "codec/keys.h"
#include "model/effects.h"
#include "pieces.h"
#include "row_checks.h"
#include "store/index_key.h"
#include "store/timer.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

struct Made {
  std::uint8_t index = 0;
  std::string entry;
  std::string row;
  std::string key;

  [[nodiscard]] store::IndexKey parts() const { return {index, entry, row}; }
};

// Few different bytes, so that one entry is often the beginning of another.
Made made_of(Pieces& pieces) {
  Made made;
  made.index = static_cast<std::uint8_t>(pieces.below(kIndexes));
  made.entry = pieces.text().substr(0, kMaxIndexEntryBytes);
  std::string rank = pieces.text().substr(0, codec::kMaxRankBytes);
  rank.append(rank.size() < codec::kMinRankBytes ? codec::kMinRankBytes - rank.size() : 0, '\0');
  made.row = codec::held_key(pieces.byte(), rank);
  store::append_index_key(made.parts(), made.key);
  return made;
}

void check_key_bytes(std::string_view bytes) {
  const auto timer = store::parse_timer_key(bytes);
  const auto entry = store::parse_index_key(bytes);
  if (timer) {
    std::string again;
    store::append_timer_key(*timer, again);
    RESEQ_ASSERT(again == bytes, "a timer with two keys");
    RESEQ_ASSERT(!entry || timer->deadline.value() < 0, "a timer that is an index entry");
  }
  if (!entry) return;
  RESEQ_ASSERT(entry->index < kIndexes && entry->entry.size() <= kMaxIndexEntryBytes && !entry->row.empty(),
               "an entry outside its limits");
  std::string again;
  store::append_index_key(*entry, again);
  RESEQ_ASSERT(again == bytes, "an entry with two keys");
}

void check_order(const Made& a, const Made& b) {
  for (const Made* one : {&a, &b}) {
    RESEQ_ASSERT(one->key.size() <= codec::kMaxKeyBytes, "a key outside its limits");
    RESEQ_ASSERT(store::parse_index_key(one->key) == one->parts(), "a key that is read as another entry");
  }
  RESEQ_ASSERT((a.parts() <=> b.parts()) == (a.key <=> b.key), "keys that do not compare as their entries do");
}

// The first row of a record with any entries: written, or as bytes that nobody vouches for.
void check_entries_of(const std::string& key, const std::string& value) {
  if (std::holds_alternative<codec::RowError>(codec::decode_held(key, value))) return;
  std::vector<std::string> expected;
  codec::each_index_entry(value, [&](std::uint8_t index, std::string_view entry) {
    store::append_index_key({index, entry, key}, expected.emplace_back());
  });
  std::vector<std::string> found;
  store::each_index_key(key, value, [&](const std::string& one) { found.push_back(one); });
  RESEQ_ASSERT(found == expected, "a row that stands where its value does not say");
  for (const std::string& one : found)
    RESEQ_ASSERT(store::parse_index_key(one).value().row == key, "an entry of another row");
}

}  // namespace

void fuzz_index(std::string_view input) {
  check_key_bytes(input);
  Pieces pieces(input);
  const Made a = made_of(pieces);
  const Made b = made_of(pieces);
  check_order(a, b);
  Arena arena;
  std::vector<KeyedChange> rows;
  Hold hold;
  hold.key = a.row;
  hold.entries = {{a.index, a.entry}, {b.index, b.entry}};
  codec::append_held(hold, {}, codec::KeyedHash(HashKey()), arena, rows);
  check_entries_of(a.row, std::string(rows.front().value.value()));
  std::string value(pieces.rest());
  seal(a.row, "", value);
  check_entries_of(a.row, value);
}

}  // namespace reseq::fuzz
