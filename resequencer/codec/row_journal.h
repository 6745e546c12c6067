// The journal of a document in its row (model/journal.h): an extension that must be understood.
//
//   journal    := head | entry+           those that wait by rising order, then the others as they came
//   head       := bits u8 | [priority u8] | [priority u8] | [lease until time]      of all entries, read without them
//   bits       := 1 some wait: the most urgent priority of them
//                 2 some are under way: the most urgent priority of them
//                 4 some of those have a lease: the earliest
//   entry      := state u8 | order | targets varint | number varint
//                 | priority u8 | inserted time | [process at time] | [expires at time]
//                 | [attempt varint | timeouts varint | losses varint | retry at time | taken over varint]
//                 | [consolidate until time] | [lease until time | dispatched at time]
//                 | request
//   state      := 0 waits     1 under way     2 gone     3 waits, and is consolidated
//                 + 4 delete     8 for all     16 process at, when not inserted     32 expires at, when ever
//                 64 attempt and what follows it, when not all of it is 0     128 lease
//   request    := offset | timestamp time | hash fixed64 | bytes of its record varint | bytes on `work` varint
//
// Invariants: targets are not empty, but for a delete for all that is gone; nothing but a delete is for all; orders of
// those that wait rising; what is under way, and what waits and was dispatched before, has targets that are pending at
// its order, or ordered ones that have a place; no process date before the insertion; no number 0 but for what is gone;
// nothing but what is under way has a lease and a date of its dispatch, and nothing but what waits is consolidated or
// tried again later; no date is before 1970.
// Thread rule: pure functions.
#pragma once

#include <string_view>

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/rows.h"
#include "model/row.h"

namespace reseq::codec {

inline constexpr std::uint64_t kJournalTag = 9;

struct JournalHead {
  DocumentPriorities priorities;
  UnixMs lease_until;  // the earliest, 0 = there is none
  friend bool operator==(const JournalHead&, const JournalHead&) = default;
};

[[nodiscard]] bool journal_holds(const Row& row);
void write_journal(const Row& row, ByteWriter& out);
// One entry alone, as it stands in a row.
void write_entry(const JournalEntry& entry, ByteWriter& out);
[[nodiscard]] JournalEntry read_entry(ByteReader& in);
// What can be said of one alone.
[[nodiscard]] bool entry_holds(const JournalEntry& entry);
// Into a row without one. What breaks an invariant is for journal_holds().
void read_journal(ByteReader& list, Row& row);
[[nodiscard]] JournalHead read_journal_head(ByteReader& list);
// What it begins with; each row that is kept is asked for that. Returns which parts it has.
std::uint8_t read_journal_priorities(ByteReader& list, DocumentPriorities& priorities);

}  // namespace reseq::codec
