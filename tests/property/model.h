// Model: the settings of a script as the engine's context, and what they mean to the oracle.
// Thread rule: plain values.
#pragma once

#include "engine/context.h"
#include "model/partition_state.h"
#include "tests/property/history.h"
#include "tests/property/script.h"

namespace reseq::property {

inline constexpr std::uint64_t kBytesMax = 1000;      // of `work` and of every output
inline constexpr std::uint64_t kTooManyBytes = 5000;  // a record that is too large for either
inline constexpr UnixMs kStart{1'000'000};            // of the clock
inline constexpr std::int64_t kStarvationMs = 60'000;
inline constexpr std::int64_t kTimeoutMs = 100'000;
inline constexpr std::int64_t kDriftMs = 60'000;
inline constexpr std::int64_t kRetentionMs = 3'600'000;
inline constexpr std::int64_t kWindowMs = 20'000;    // of the gate
inline constexpr std::uint32_t kTurnRows = 4;        // of a kind in a batch
inline constexpr std::uint64_t kBatchBytes = 6'000;  // let through in a batch
inline constexpr std::uint32_t kDrainedMax = 3;      // of a window in a batch

struct Model {
  std::size_t documents = 1;
  std::size_t targets = 1;
  bool producers_send_epochs = false;
  bool stops_on_missing = false;
  bool skips_unchanged = false;
  engine::EventPolicy events = engine::EventPolicy::kNone;
  engine::Context context;  // `now` is set per batch
  PartitionState state;     // at birth

  [[nodiscard]] bool tap() const { return context.intake == engine::Intake::kTap; }
  // What the routes and the default say for a registration without explicit targets.
  [[nodiscard]] TargetSet routed(const Registration& what) const;
};

[[nodiscard]] Model model_of(const Script& script);

inline constexpr std::uint64_t kReferenceAbove = 100;  // bytes of `work`: what the gate holds by its place
// What retention has taken when it is to be read again.
[[nodiscard]] inline bool is_gone(Offset request) {
  return request.value() % 6 == 4;
}

// Of a model that skips what is unchanged: what a request asks for, by its op, payload and the headers that count.
// There are few, so many are the same. Lives for ever.
[[nodiscard]] const Wish* wish_for(Op op, PayloadHash payload, bool other_headers);
inline constexpr std::uint64_t kPayloads = 2;  // of such a model

// The gate of the models that have one.
[[nodiscard]] const engine::Gate& window_gate();

// The header that one of the routes asks for.
[[nodiscard]] std::span<const Header> routing_headers();

// The number as a sequence of the kind u64, shortened to two bytes. REQUIRES: 0 <= number < 65536.
[[nodiscard]] Sequence sequence_of(std::uint32_t number);

}  // namespace reseq::property
