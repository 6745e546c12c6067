// Wiring: how records of one partition are decoded, and what becomes of decisions as records of topics. The worker and
// the judge of its logs say it with the same words.
// Thread rule: any thread.
#pragma once

#include "base/arena.h"
#include "codec/wire.h"
#include "model/effects.h"
#include "runtime/application.h"

namespace reseq::runtime {

// One record to produce.
struct Outgoing {
  kafka::TopicIndex topic;
  codec::OutputRecord record;
  kafka::Record* input = nullptr;  // whose headers it takes over, if it does
};

// How inputs of a partition are read. REQUIRES: all three outlive what is decoded with it.
[[nodiscard]] codec::DecodeContext decoding(const Application& application, const PartitionSetting& setting,
                                            Arena& arena);

// Encoded and addressed. `input` is what the emission names; the record lives in the arena and in the input.
// REQUIRES: a target of an emission is one of the table.
[[nodiscard]] Outgoing outgoing(const Application& application, const PartitionSetting& setting,
                                const TargetTable& table, const Emission& emission, const codec::InputRecord& input,
                                Arena& arena);
// `input` null: of a timer.
[[nodiscard]] Outgoing outgoing(const Application& application, const TargetTable& table, const Event& event,
                                const codec::InputRecord* input, Arena& arena);

}  // namespace reseq::runtime
