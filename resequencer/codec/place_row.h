// Place row: a request that an ordered target waits for, in its lane (model/lane.h).
//
//   rank    := target u8 | number of the document u64 | order        highest bytes first, so that those of a document
//                                                                    stand in their order
//   order   := epoch u32 | sequence, each 00 written as 00 FF | 00 00 | revision u64
//   body    := flags u8 | target u8 | order of row_order.h | id bytes | number varint | request offset
//              | bytes varint | dispatched time | [due time]
//              | [reason bytes | attempts varint] | [number of the document varint | entry of row_journal.h]
//   flags   := 2 ended without a result   4 total   8 due   64 the output is told why it ended, when its turn comes
//              128 it waits to get into the journal, with this entry there
//   note    := nothing | flags u8 (1 a delete, 2 observed) | [observed fixed64]
//
// A held result is a held record under the same rank (held_rows.h), with this note. The place says nothing of it, or it
// would be written once more for each: where a place has not ended and is not waited for, the record is looked for.
// `due` has the head of a lane alone, once it is known to be that: when it is waited for, it is skipped from then on;
// otherwise it is to leave, and the time is 0. Times are kNever while it waits for its dispatch, or nothing but a lease
// may end it.
// Entries of indexes: of a total place its target and number; of a head that is waited for its due time; of another
// head its number; of one that waits to get into the journal the number of its document, its target and its own number,
// and from when on its request ages.
// Thread rule: any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codec/rows.h"
#include "model/command.h"
#include "model/journal.h"
#include "model/lane.h"
#include "model/summary.h"

namespace reseq::codec {

inline constexpr UnixMs kNever{INT64_MAX};

struct PlaceRow {
  bool ended = false;  // without a result
  bool total = false;
  TargetNumber target;
  Order order;
  std::string_view id;       // whole, of its document
  std::uint64_t number = 0;  // given out in the order of the requests
  Offset request;            // where that is,
  std::uint64_t bytes = 0;   // and what it may have as a record of `work`
  UnixMs dispatched_at;      // last
  std::optional<UnixMs> due;
  // Of one that has ended: why, by its name, and behind how many attempts; empty = nothing is said on the output.
  std::string_view reason;
  std::uint32_t attempts = 0;
  // What becomes its entry in the journal when there is room for it, for its target alone, and the number of its
  // document; none: it is there, or none is needed.
  std::optional<JournalEntry> queued;
  std::uint64_t document = 0;
  std::string_view extensions;  // of a later version

  // The head of its lane, and its result has not come.
  [[nodiscard]] bool is_waited_for() const { return due && *due != UnixMs(); }

  friend bool operator==(const PlaceRow&, const PlaceRow&) = default;
};

// What the note of a held result says of it.
struct ResultNote {
  Op op = Op::kUpsert;
  std::optional<Version> observed;
  friend bool operator==(const ResultNote&, const ResultNote&) = default;
};
[[nodiscard]] std::string encode_result_note(const ResultNote& note);
// What it lacks is as if it were not said.
[[nodiscard]] ResultNote decode_result_note(std::string_view bytes);

inline constexpr std::uint8_t kLanesGate = 3;     // in keys of places and of results that are held
inline constexpr std::uint8_t kLaneIndex = 7;     // target u8 | number u64
inline constexpr std::uint8_t kGapIndex = 8;      // time u64
inline constexpr std::uint8_t kReadyIndex = 9;    // number u64
inline constexpr std::uint8_t kQueuedIndex = 10;  // number of the document u64 | target u8 | number u64
inline constexpr std::uint8_t kSentIndex = 5;     // time u64; of held requests, too

// When its request was sent, or later: it could not get into the journal when that was too old, and is to be looked at
// again. REQUIRES: an entry of a place.
[[nodiscard]] inline UnixMs ages_from(const JournalEntry& queued) {
  return std::max({queued.request.timestamp, queued.retry_at, UnixMs()});
}

// What the ranks of all places of a document in the lane of this target begin with.
[[nodiscard]] std::string lane_rank(TargetNumber target, std::uint64_t document_number);
[[nodiscard]] std::string place_rank(TargetNumber target, std::uint64_t document_number, const Order& order);
// Of a place, and of the result that is held for it.
[[nodiscard]] std::string place_key(std::uint8_t gate, std::string_view rank);
[[nodiscard]] std::string held_key_of_place(std::string_view place_key);

void encode_place(std::string_view key, const PlaceRow& place, std::string& out);
// Views into `value`.
[[nodiscard]] Decoded<PlaceRow> decode_place(std::string_view key, std::string_view value);
// REQUIRES: the value came from encode_place or was decoded once.
void each_place_entry(std::string_view value, const EntryVisit& visit);

// REQUIRES: as above.
[[nodiscard]] CountSet count_place(std::string_view value);

// As they stand in the indexes.
[[nodiscard]] std::string queued_entry(std::uint64_t document, TargetNumber target, std::uint64_t number);
[[nodiscard]] std::string lane_entry(TargetNumber target, std::uint64_t number);
// The number of a lane_entry() of this target; none: it is another one's.
[[nodiscard]] std::optional<std::uint64_t> number_in_lane(std::string_view entry, TargetNumber target);

}  // namespace reseq::codec
