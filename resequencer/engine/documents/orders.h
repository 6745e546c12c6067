// Orders: the order that a request or a command has, once the defaults for what it does not say are known.
// Thread rule: pure functions.
#pragma once

#include <optional>

#include "model/command.h"
#include "model/row.h"

namespace reseq::engine {

// Of a request: an absent epoch is the partition's default.
[[nodiscard]] Order request_order(const Registration& what, Epoch default_epoch);

// Of a command: an absent epoch is 0, allowed only while the default and all epochs of the row are 0, because an old
// result could win otherwise. None = the epoch is missing.
template <typename AnyCommand>
[[nodiscard]] std::optional<Order> command_order(const AnyCommand& command, const Row* row, Epoch default_epoch);

// True when a group, the barrier or the newest request of the row has an epoch above 0.
[[nodiscard]] bool knows_epochs(const Row* row);

// Why `order` loses against `compared`, which is newer: `epoch_behind` when only the epoch is older.
[[nodiscard]] Reason why_behind(const Order& order, const Order& compared);

template <typename AnyCommand>
std::optional<Order> command_order(const AnyCommand& command, const Row* row, Epoch default_epoch) {
  if (!command.epoch && (default_epoch != Epoch{} || knows_epochs(row))) return std::nullopt;
  return Order{command.epoch.value_or(Epoch{}), command.sequence, command.revision};
}

}  // namespace reseq::engine
