// Held rows: an input that waits in the state as it came, until a gate lets it through (engine/gate.h).
//
//   H, body := index entries bytes: (index u8 | bytes)*     where it is found when it is due
//              | note bytes                                 what the gate says of it, which nobody else reads
//              | role u8 | partition varint | offset | timestamp time          where it was read
//              | bytes varint                               upper bound of the record that leaves later
//              | form u8 | record bytes varint
//              | form 0: piece bytes                        the first of the record
//              | form 1: hash fixed64                       the record is to be read again from `requests`
//   P, body := piece bytes                                  the next of it
//   record  := flags u8 (1 key, 2 payload) | [key bytes] | headers left out varint
//              | count varint, (name bytes | flag u8 (1 value) | [value bytes])* | [payload: the rest]
//
// No value is longer than kHeldValueBytes, unless the note is: that is one page of LMDB without its header, so that a
// row takes one page of its own and leaves one when it goes. A piece is as long as it can be, so how many there are
// follows from the first row; only that of a first row that was written again may be shorter.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "codec/command_decoder.h"
#include "codec/hash.h"
#include "codec/rows.h"
#include "model/effects.h"

namespace reseq::codec {

inline constexpr std::size_t kHeldValueBytes = 4080;
inline constexpr std::uint64_t kMaxHeldRecordBytes = std::uint64_t{1} << 31U;  // more than a record of Kafka can have

struct HeldRow {
  std::string_view entries;  // each_index_entry() reads them
  std::string_view note;
  Role role = Role::kRequests;
  Partition partition;
  Offset offset;
  UnixMs timestamp;
  std::uint64_t bytes = 0;  // upper bound of the record that leaves later
  bool reference = false;
  std::uint64_t hash = 0;          // KeyedHash::of_input() of its record
  std::uint64_t record_bytes = 0;  // of a body and of what a reference refers to
  std::string_view piece;          // the first
  std::uint32_t further_pieces = 0;
  std::string_view extensions;  // of a later version
};

// Bytes of a record as it is held: bounds are in them.
[[nodiscard]] std::uint64_t held_bytes(const InputRecord& record);

// The rows of one that is held, the first one first. Bytes live in the arena.
void append_held(const Hold& hold, const InputRecord& record, const KeyedHash& hash, Arena& arena,
                 std::vector<KeyedChange>& out);

// The first row again, with other entries and another note: its record and its extensions stay what they are. Bytes
// live in the arena.
[[nodiscard]] KeyedChange held_again(std::string_view key, const HeldRow& held, std::span<const IndexEntry> entries,
                                     std::string_view note, Arena& arena);

// Views into `value`.
[[nodiscard]] Decoded<HeldRow> decode_held(std::string_view key, std::string_view value);
// The same of a value that was decoded before: its checksum is not looked at again.
[[nodiscard]] HeldRow held_of(std::string_view value);
[[nodiscard]] Decoded<std::string_view> decode_piece(std::string_view key, std::string_view value);

// The record of a body, put together in the arena. `row`: what stands under a key, whole. None: a piece is missing or
// damaged, which a state that was checked never has. REQUIRES: no reference.
using FindRow = std::function<std::optional<std::string_view>(std::string_view key)>;
[[nodiscard]] std::optional<InputRecord> held_record(std::string_view key, const HeldRow& held, const FindRow& row,
                                                     Arena& arena);

// Where a producer has the document from (reseq-source), of what the first row of a body says alone. Empty: it is a
// reference, its headers do not end in that row, or nobody said.
[[nodiscard]] std::string_view document_source_of(const HeldRow& held);

// Calls visit(index, bytes) for each entry of an encoded H row. REQUIRES: it was encoded by this process or checked.
void each_index_entry(std::string_view value, const EntryVisit& visit);

}  // namespace reseq::codec
