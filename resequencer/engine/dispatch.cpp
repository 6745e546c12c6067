#include "engine/dispatch.h"

namespace reseq::engine {

void Dispatch::narrow_sent(const Document& document, const Ruling& newer) {
  for (const std::uint32_t place : document.sent) {
    const Emission& emission = effects_.sent(place);
    Forward& forward = *std::get_if<Forward>(&effects_.sent(place).what);
    if (forward.targets.empty() || forward.order >= newer.edit.order) continue;
    forward.targets = forward.targets.without(newer.edit.moved);
    if (forward.targets.empty())
      effects_.drop_as_superseded(emission.input, document.id, forward.order, newer.edit.order);
  }
}

}  // namespace reseq::engine
