// Wiring: how records of one partition are decoded, and what becomes of decisions as records of topics. The worker and
// the judge of its logs say it with the same words.
// Thread rule: any thread.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/arena.h"
#include "codec/held_rows.h"
#include "codec/wire.h"
#include "model/effects.h"
#include "runtime/application/application.h"

namespace reseq::runtime {

// One record to produce.
struct Outgoing {
  kafka::TopicIndex topic;
  codec::OutputRecord record;
  std::optional<Partition> partition = {};  // absent: by the key
  // Where it starts from: headers that it takes over, or copies.
  kafka::Record* headers_from = nullptr;
  std::span<const Header> headers = {};
};

// The inputs of a batch, and what was held and is let through, by InputIndex.
struct Decoded {
  std::span<const codec::InputRecord> records;
  std::span<kafka::Record* const> sources;  // null: of what was held
};

// How inputs of the application are read. `tap`: as behind intake tap. Without a hash nobody reads requests again,
// or compares them.
// REQUIRES: application, targets, arena and hash outlive what is decoded with it.
[[nodiscard]] codec::DecodeContext decoding(const Application& application, const TargetTable& targets, bool tap,
                                            Arena& arena, const codec::KeyedHash* hash = nullptr);
// Those of a partition.
[[nodiscard]] inline codec::DecodeContext decoding(const Application& application, const PartitionSetting& setting,
                                                   Arena& arena, const codec::KeyedHash& hash, bool waits) {
  const bool reads_again = application.keeps_under_way || waits;
  codec::DecodeContext context = decoding(application, setting.known, setting.context.intake == engine::Intake::kTap,
                                          arena, reads_again || application.settings.skip_unchanged ? &hash : nullptr);
  context.reads_again = reads_again;
  return context;
}

// The record at this place of `requests`, if it was read again. What it gives outlives what is made of it.
using FindAgain = std::function<std::optional<codec::InputRecord>(Offset offset)>;

// What was held, as if it was read now. It lives in the arena and in what `row` and `again` give. Of a record that is
// gone, what is known of it: where it was, and its document for a key. None: one of its rows cannot be read, or what it
// refers to was not.
[[nodiscard]] std::optional<codec::InputRecord> record_of(const LetThrough& held, const codec::FindRow& row,
                                                          const FindAgain& again, const codec::DecodeContext& decoding,
                                                          Arena& arena);

// Encoded and addressed, without its headers' place. `input` is what the emission names, null for kNoInput; the record
// lives in the arena and in the input. REQUIRES: a target of an emission is one of the table.
[[nodiscard]] Outgoing outgoing(const Application& application, const PartitionSetting& setting,
                                const TargetTable& table, const Emission& emission, const codec::InputRecord* input,
                                Arena& arena);
// All of a batch, in their order. Headers of an input go over to the last record that starts from them: those before it
// have copies. REQUIRES: they are in input order; produced in the order of `out`.
void append_outgoing(const Application& application, const PartitionSetting& setting, const TargetTable& table,
                     std::span<const Emission> emissions, const Decoded& inputs, Arena& arena,
                     std::vector<Outgoing>& out);
// `input` null: of a timer.
[[nodiscard]] Outgoing outgoing(const Application& application, const TargetTable& table, const Event& event,
                                const codec::InputRecord* input, Arena& arena);

}  // namespace reseq::runtime
