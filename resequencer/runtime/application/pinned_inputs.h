// PinnedInputs: is the log of an input the one that the state was made from? The meta row names the last decided record
// of each input. After a takeover an input is read from that record on, so that it comes first and is compared; a topic
// that was deleted and made anew, and is longer than the old one was, would otherwise be read from the old position.
//
//   the record is there                     -> goes on, or kOther when it differs
//   something behind it comes first         -> kMissing: compaction took it, or it is another log
//   the end of the log comes first          -> kMissing, unless that lies in front of the position: a new leader may
//                                              not know its end yet
//   it is out of reach                      -> give_up(): retention took it, or the log is too short, which the
//                                              position shows then
//
// An older version keeps the pins it finds, so they may lie far in front of the position.
// Thread rule: one worker.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "codec/hash.h"
#include "kafka/cluster.h"
#include "model/partition_state.h"
#include "runtime/application/inputs.h"

namespace reseq::runtime {

[[nodiscard]] InputPin pin_of(Role role, const kafka::Record& record, const codec::KeyedHash& hash);

class PinnedInputs {
 public:
  enum class Judgement : std::uint8_t { kGoOn, kOther, kMissing };

  // A takeover goes on from these positions. A pin that is not in front of its position says nothing.
  void expect(std::span<const InputPin> pins, std::span<const InputPosition> positions);
  // Where to read from when `next` is next to decide.
  [[nodiscard]] Offset read_from(Role role, Offset next) const;
  // Still to be compared; null = nothing is.
  [[nodiscard]] const InputPin* pin(Role role) const;
  // What comes is compared once. `next`: as above.
  [[nodiscard]] Judgement judge(Role role, const kafka::Record& record, const codec::KeyedHash& hash);
  [[nodiscard]] Judgement judge_end(Role role, Offset end, Offset next);
  void give_up(Role role) { of(role).reset(); }

 private:
  [[nodiscard]] std::optional<InputPin>& of(Role role) { return pins_[slot_of(role)]; }

  std::array<std::optional<InputPin>, 3> pins_;  // per kInputs
};

}  // namespace reseq::runtime
