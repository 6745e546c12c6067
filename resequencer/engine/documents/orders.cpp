#include "engine/documents/orders.h"

#include <algorithm>

namespace reseq::engine {

Order request_order(const Registration& what, Epoch default_epoch) {
  return {what.epoch.value_or(default_epoch), what.sequence, Revision{}};
}

bool knows_epochs(const Row* row) {
  if (row == nullptr) return false;
  if (row->barrier && row->barrier->epoch != Epoch{}) return true;
  if (row->requested && row->requested->order.epoch != Epoch{}) return true;
  return std::any_of(row->groups.begin(), row->groups.end(), [](const Group& g) { return g.order.epoch != Epoch{}; });
}

Reason why_behind(const Order& order, const Order& compared) {
  const bool only_epoch = order.epoch < compared.epoch && order.sequence >= compared.sequence;
  return only_epoch ? Reason::kEpochBehind : Reason::kSuperseded;
}

}  // namespace reseq::engine
