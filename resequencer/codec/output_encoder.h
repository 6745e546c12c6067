// From an Emission or an Event of the engine to a record to produce, as views and header edits: the payload is never
// copied, the headers of the input are taken over (schemas/wire.md). No Kafka types: pure.
// Thread rule: any thread; the arena is used by one.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/arena.h"
#include "codec/command_decoder.h"
#include "model/effects.h"
#include "model/header.h"

namespace reseq::codec {

using HeaderEdits = boost::container::small_vector<HeaderEdit, 3>;  // a dead letter has more

// A record to produce. Views point into the input, the arena or static text.
struct OutputRecord {
  Role role = Role::kWork;
  std::optional<TargetNumber> target;  // role kOutput
  std::optional<std::string_view> key;
  std::optional<std::string_view> payload;
  bool takes_input_headers = false;  // start from the input's headers, then edit
  HeaderEdits edits;
  std::span<const Header> headers = {};  // start from these; not with takes_input_headers
};

enum class DeadLetterHeaders : std::uint8_t { kReseq, kStreams, kSpring };

struct EncodeContext {
  const TargetTable* targets = nullptr;
  SequenceKind sequence_kind = SequenceKind::kU64;
  DeadLetterHeaders dead_letter_headers = DeadLetterHeaders::kReseq;
  std::string_view input_topic;                      // name of the input's topic, for dead letters and events
  std::uint64_t dead_letter_bytes_max = UINT64_MAX;  // above it the payload is left out, with its size in a header
  bool cloudevents = false;  // profile: outputs have their id and version as CloudEvents do, too
};

// REQUIRES: the emission was decided for that input, not generated, and what goes on was decoded; context.targets is
// not null.
[[nodiscard]] OutputRecord encode(const Emission& emission, const InputRecord& input, const EncodeContext& context,
                                  Arena& arena);
// What was generated. The bytes are its own.
[[nodiscard]] OutputRecord encode(const GeneratedRecord& generated);
// `input` is null for an event with kNoInput. REQUIRES: context.targets is not null.
[[nodiscard]] OutputRecord encode(const Event& event, const InputRecord* input, const EncodeContext& context,
                                  Arena& arena);

}  // namespace reseq::codec
