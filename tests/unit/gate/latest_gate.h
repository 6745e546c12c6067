// LatestGate: holds every request for a while under a key of its document. So no two requests of a document may wait at
// a time: who breaks that has to be told.
// Thread rule: const; any thread.
#pragma once

#include <array>
#include <string>
#include <variant>
#include <vector>

#include "codec/held_rows.h"
#include "codec/keys.h"
#include "engine/gate.h"
#include "engine/gate_numbers.h"
#include "tests/gate/window_gate.h"

namespace reseq::gate {

class LatestGate : public engine::Gate {
 public:
  explicit LatestGate(std::int64_t delay) : delay_(delay) {}
  static constexpr engine::GateNumbers kOwn = engine::gate_numbers("latest");
  static constexpr std::uint8_t kOwnIndex = kOwn.indexes[0].value();
  static constexpr std::array<engine::AgendaKind, 1> kKinds = {{{kOwn.kinds[0].value(), "leave", {}}}};
  [[nodiscard]] std::uint64_t capability() const override { return kOwn.capability_bit(); }
  [[nodiscard]] std::span<const engine::AgendaKind> agenda() const override { return kKinds; }
  [[nodiscard]] std::optional<UnixMs> next(std::uint8_t, const engine::Moment& moment) const override {
    std::optional<UnixMs> next;
    moment.view.index(kOwnIndex, {}, 1, [&](std::string_view entry, std::string_view) {
      next = UnixMs(std::stoll(std::string(entry)));
      return true;
    });
    return next;
  }
  [[nodiscard]] std::optional<Hold> holds(const engine::Leaving& leaving, Arena& arena) const override {
    Hold hold;
    hold.key = arena.copy(codec::held_key(kOwn.gate, leaving.id));
    hold.entries = {{kOwnIndex, arena.copy(std::to_string(leaving.now.value() + delay_))}};
    hold.note = arena.copy(encode_note(leaving.id, leaving.forward));
    return hold;
  }
  void take(engine::Turn& turn, engine::GateBatch& batch) const override {
    for (const std::string& key : due(turn, batch)) {
      const auto row = batch.rows().find(key);
      if (row && !take_one(key, *row, turn, batch)) return;
    }
  }

 protected:
  // The keys of what is due by the committed state.
  static std::vector<std::string> due(const engine::Turn& turn, const engine::GateBatch& batch) {
    std::vector<std::string> keys;
    batch.view().index(kOwnIndex, {}, SIZE_MAX, [&](std::string_view entry, std::string_view key) {
      if (UnixMs(std::stoll(std::string(entry))) > turn.until()) return false;
      keys.emplace_back(key);
      return true;
    });
    return keys;
  }
  // False: the turn has no room for it.
  static bool take_one(const std::string& key, std::string_view row, engine::Turn& turn, engine::GateBatch& batch) {
    const auto decoded = codec::decode_held(key, row);
    const auto& held = std::get<codec::HeldRow>(decoded);
    if (!turn.take(held)) return false;
    const Note note = decode_note(held.note);
    (void)batch.let_through(key, note.id, note.forward);
    return true;
  }

 private:
  std::int64_t delay_;
};

}  // namespace reseq::gate
