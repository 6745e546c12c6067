#include "runtime/application/pinned_inputs.h"

#include <utility>

namespace reseq::runtime {

InputPin pin_of(Role role, const kafka::Record& record, const codec::KeyedHash& hash) {
  return {role, record.offset, record.timestamp, hash.of_input(record.key, record.payload)};
}

void PinnedInputs::expect(std::span<const InputPin> pins, std::span<const InputPosition> positions) {
  pins_ = {};
  for (const InputPin& pin : pins)
    for (const InputPosition& position : positions)
      if (position.role == pin.role && pin.offset < position.next) of(pin.role) = pin;
}

Offset PinnedInputs::read_from(Role role, Offset next) const {
  const InputPin* waits = pin(role);
  return waits != nullptr ? waits->offset : next;
}

const InputPin* PinnedInputs::pin(Role role) const {
  const auto& waits = pins_[slot_of(role)];
  return waits ? &*waits : nullptr;
}

PinnedInputs::Judgement PinnedInputs::judge(Role role, const kafka::Record& record, const codec::KeyedHash& hash) {
  auto& waits = of(role);
  if (!waits || record.offset < waits->offset) return Judgement::kGoOn;
  const InputPin expected = *std::exchange(waits, std::nullopt);
  if (record.offset != expected.offset) return Judgement::kMissing;
  return pin_of(role, record, hash) == expected ? Judgement::kGoOn : Judgement::kOther;
}

PinnedInputs::Judgement PinnedInputs::judge_end(Role role, Offset end, Offset next) {
  auto& waits = of(role);
  if (!waits || end < next) return Judgement::kGoOn;
  waits.reset();
  return Judgement::kMissing;
}

}  // namespace reseq::runtime
