// Records that are held, as rows of a state, for the tests of what holds them.
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/held_rows.h"
#include "codec/row_frame.h"
#include "row_generators.h"
#include "sample_record.h"

namespace reseq::codec {

inline constexpr std::size_t kWholePieceBytes = kHeldValueBytes - 1 - 2 - kChecksumBytes;  // of each but first and last

// Everything that a record that is held comes back with.
inline bool is_same(const InputRecord& a, const InputRecord& b) {
  const auto is_same_header = [](const Header& x, const Header& y) { return x.name == y.name && x.value == y.value; };
  return a.role == b.role && a.partition == b.partition && a.offset == b.offset && a.timestamp == b.timestamp &&
         a.key == b.key && a.payload == b.payload && a.headers_left_out == b.headers_left_out &&
         std::equal(a.headers.begin(), a.headers.end(), b.headers.begin(), b.headers.end(), is_same_header);
}

inline Hold sample_hold(std::string_view key) {
  Hold hold;
  hold.key = key;
  hold.entries = {{1, "due at 5"}, {1, ""}, {0x7F, "a"}};
  hold.note = "note";
  return hold;
}

// The rows of one record.
class Held {
 public:
  static const std::string& sample_key() {
    static const std::string key = held_key(7, std::string("rank\0\xFF", 6));
    return key;
  }

  explicit Held(const InputRecord& record) : Held(record, sample_hold(sample_key())) {}
  Held(const InputRecord& record, const Hold& hold) : key(hold.key) {
    Arena arena;
    std::vector<KeyedChange> changes;
    append_held(hold, record, KeyedHash(test_hash_key()), arena, changes);
    EXPECT_EQ(changes.front().key, key);
    for (const KeyedChange& change : changes) {
      EXPECT_TRUE(keys.empty() || change.key.substr(1) > keys.back().substr(1)) << "out of order";
      keys.emplace_back(change.key);
      rows.emplace(change.key, change.value.value());
    }
  }

  // Views into the rows.
  [[nodiscard]] HeldRow head() const { return std::get<HeldRow>(decode_held(key, rows.at(key))); }
  // The record, in the arena.
  [[nodiscard]] std::optional<InputRecord> record(Arena& arena) const {
    const auto decoded = decode_held(key, rows.at(key));
    const auto* row = std::get_if<HeldRow>(&decoded);
    if (row == nullptr) return std::nullopt;
    const auto find = [this](std::string_view wanted) -> std::optional<std::string_view> {
      const auto found = rows.find(wanted);
      if (found == rows.end()) return std::nullopt;
      return found->second;
    };
    return held_record(key, *row, find, arena);
  }

  std::string key;
  std::vector<std::string> keys;  // of all rows, as they came
  std::map<std::string, std::string, std::less<>> rows;
};

// With a checksum that fits. `content`: format and body.
inline std::string sealed_again(std::string_view key, std::string content) {
  ByteWriter writer(content);
  seal(key, "", 0, writer);
  return content;
}

inline std::string content_of(std::string_view value) {
  return std::string(value.substr(0, value.size() - kChecksumBytes));
}

inline std::vector<std::pair<std::uint8_t, std::string>> entries_of(std::string_view value) {
  std::vector<std::pair<std::uint8_t, std::string>> entries;
  each_index_entry(value, [&](std::uint8_t index, std::string_view bytes) { entries.emplace_back(index, bytes); });
  return entries;
}

// Mostly small, sometimes of several pieces.
inline SampleRecord any_record() {
  SampleRecord record(static_cast<Role>(below(10)));
  const auto text = [] { return one_in(8) ? std::string(below(6000), any<char>()) : any_bytes(0, 20); };
  const auto maybe = [&] { return one_in(4) ? std::optional<std::string>() : std::optional(text()); };
  for (std::size_t count = below(4); count > 0; --count) record.with(text(), maybe());
  std::optional<std::string> payload = maybe();
  if (payload && one_in(4)) *payload += std::string(below(3 * kHeldValueBytes), 'p');
  return std::move(record).key(maybe()).payload(std::move(payload));
}

}  // namespace reseq::codec
