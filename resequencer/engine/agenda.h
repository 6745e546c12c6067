// Agenda: what is done behind the inputs of a batch without one of its own: kinds of work with a time, each in turns.
// Who has rows that wait says which kinds it has and when the first of each is due.
// Thread rule: const; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/state_view.h"
#include "model/partition_state.h"

namespace reseq::engine {

// Which inputs must have been read to ends that were asked at or after the time of what is due, before it is done.
struct Fence {
  bool requests = false;
  bool control = false;
  bool commands = false;
  [[nodiscard]] bool open() const { return !requests && !control && !commands; }
};

struct AgendaKind {
  std::uint8_t number = 0;
  std::string_view name;
  Fence fence;
  bool each_batch = false;    // inputs of a batch may make something due: it has a turn in each
  bool while_paused = false;  // also of a partition that an operator paused: nothing leaves because of it
};

// When it is asked what is due, and of what.
struct Moment {
  const StateView& view;
  const PartitionState& state;
  UnixMs now;
};

class AgendaSource {
 public:
  virtual ~AgendaSource() = default;

  // Bits of states that it can go on with.
  [[nodiscard]] virtual std::uint64_t capability() const = 0;
  // Those of them that what it writes needs: they stand in the meta row while rows of it are there.
  [[nodiscard]] virtual std::uint64_t needs() const { return capability(); }
  // Its kinds, in the order of their turns: their numbers rise.
  [[nodiscard]] virtual std::span<const AgendaKind> agenda() const = 0;
  // When the first of a kind is due that may be done now or later; none = nothing is, ever. Not asked while nothing
  // waits.
  [[nodiscard]] virtual std::optional<UnixMs> next(std::uint8_t kind, const Moment& moment) const = 0;
  // How far a turn of a kind goes in its index when everything is done that is due by `now`.
  [[nodiscard]] virtual UnixMs until(std::uint8_t /*kind*/, UnixMs now) const { return now; }
};

}  // namespace reseq::engine
