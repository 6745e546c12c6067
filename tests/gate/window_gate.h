// WindowGate: a gate that exists in tests alone, to prove what gates stand on. It holds some forwards until the window
// of time in which they came is over; then a task drains them, a few a batch, in the order of their requests, and says
// so to `control` of another partition. In all worlds what it holds ends as if it had not waited.
//
//   held    key: end of the window | offset of the request; found by the end of the window
//   open    the window is over, behind all requests and operations that stood in their logs then: a task is written
//   drain   the task goes on, and is removed behind the last one
//
// Thread rule: const; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/gate.h"
#include "engine/gate_numbers.h"

namespace reseq::gate {

inline constexpr engine::GateNumbers kNumbers = engine::gate_numbers("window");
inline constexpr std::uint8_t kGate = kNumbers.gate;
inline constexpr std::uint8_t kIndex = kNumbers.indexes[0].value();
inline constexpr std::uint64_t kCapability = kNumbers.capability_bit();

enum Kind : std::uint8_t { kOpen = kNumbers.kinds[0].value(), kDrain = kNumbers.kinds[1].value() };

class WindowGate final : public engine::Gate {
 public:
  struct Settings {
    Milliseconds window{1000};
    std::int64_t every = 3;                      // offsets that this divides are held
    std::uint32_t drained_max = 2;               // of one window in one batch
    std::int32_t partitions = 1;                 // of `control`
    std::uint64_t reference_above = UINT64_MAX;  // what is larger in `work` is held by reference
  };
  explicit WindowGate(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] std::uint64_t capability() const override { return kCapability; }
  [[nodiscard]] std::span<const engine::AgendaKind> agenda() const override;
  [[nodiscard]] std::optional<UnixMs> next(std::uint8_t kind, const engine::Moment& moment) const override;
  [[nodiscard]] std::optional<Hold> holds(const engine::Leaving& leaving, Arena& arena) const override;
  void take(engine::Turn& turn, engine::GateBatch& batch) const override;

  // When what comes now leaves.
  [[nodiscard]] UnixMs window_end(UnixMs now) const;

 private:
  void open(engine::Turn& turn, engine::GateBatch& batch) const;
  void drain(engine::Turn& turn, engine::GateBatch& batch) const;
  // False: the turn has no room for the next one.
  [[nodiscard]] bool drain(std::string_view task, UnixMs window, engine::Turn& turn, engine::GateBatch& batch) const;
  [[nodiscard]] bool let_through(const std::string& key, engine::Turn& turn, engine::GateBatch& batch) const;

  Settings settings_;
};

// What it keeps of a forward.
struct Note {
  std::string id;
  Forward forward;
};
[[nodiscard]] std::string encode_note(DocumentId id, const Forward& forward);
[[nodiscard]] Note decode_note(std::string_view bytes);

}  // namespace reseq::gate
