// Lanes with one wrong rule each: a check that notices none of them checks nothing.
// Thread rule: any thread.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/orders/lane_table.h"

namespace reseq::orders {

struct NamedWrongLane {
  std::string_view name;  // behind "a lane that"
  std::function<std::unique_ptr<LaneTable>()> make;
};

[[nodiscard]] const std::vector<NamedWrongLane>& wrong_lanes();

}  // namespace reseq::orders
