// The payload of `<app>.events`: one small JSON object per outcome (schemas/events.schema.json).
// Thread rule: any thread; the arena is used by one.
#pragma once

#include <string_view>

#include "codec/output_encoder.h"
#include "model/effects.h"

namespace reseq::codec {

// Compact JSON in the arena. `input` is null for an event that a timer caused.
[[nodiscard]] std::string_view event_json(const Event& event, const InputRecord* input, const EncodeContext& context,
                                          Arena& arena);

}  // namespace reseq::codec
