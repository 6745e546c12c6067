// Standstill: why a partition does not go on, in words that an operator searches docs/recovery.md for.
//
//   parked    nothing is read or written until a person acts; the other partitions go on
//   refused   the same, and the process ends: its configuration does not fit the state
//   waiting   a takeover asks again by itself, or an input is read again
//
// Invariant: whoever parks, refuses or waits names one of these, and the page has a row for each
// (tests/unit/runtime/recovery_page_test.cpp). Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace reseq::runtime {

enum class Parked : std::uint8_t {
  kStateFolder,          // the folder of the copy cannot be used
  kChangelogEmpty,       // but a copy of the state is here
  kStateGone,            // changelog, offsets and copy: all three
  kNoMetaRow,            // offsets or rows without the record that says how far they are
  kChangelogUnreadable,  // a record of it is not ours, damaged, or of a newer version
  kChangelogUnfit,       // read from its beginning, it is not what its meta row counts
  kOffsetsMoved,         // committed offsets are not those of the state
  kOffsetsAhead,         // they are ahead of it for longer than a transaction can last
  kOtherInputs,          // the meta row lists inputs that this version does not read
  kInputUnreadable,      // the next offset of an input is not in its log any more, or what is there is damaged
  kInputReplaced,        // its last decided record is another one: the topic was deleted and made anew
  kTopicGrew,            // partitions were added while the process ran
  kKeepsAborting,        // its transactions, each time
  // Refused:
  kIdentity,
  kTargetMissing,
  kTooManyTargets,
  kCount
};
[[nodiscard]] std::string_view name_of(Parked why);
// The first thing to do, in one sentence.
[[nodiscard]] std::string_view first_step(Parked why);

enum class Waiting : std::uint8_t {
  kCopyUnavailable,   // another worker or process still has its folder, or the disk refuses
  kCopyNotEmptied,    // the disk refuses
  kCommittedOffsets,  // unstable, or nobody answers
  kChangelogEnds,     // nobody answers
  kChangelogRead,     // it could not be read on; it is tried again
  kOpenTransaction,   // in the changelog
  kOffsetsAhead,      // the transaction that moved them is not read yet
  kClockBehind,       // the clock of this host, behind the versions
  kFirstOffsets,      // of the inputs, at a birth: nobody answers
  kInputRead,         // brokers refuse to let an input be read; it is tried again
  kCount
};
[[nodiscard]] std::string_view name_of(Waiting what);

}  // namespace reseq::runtime
