// Every guard of resequencer/model/guards.h by its name, for what leaves one out.
// Thread rule: plain values.
#pragma once

#include <array>
#include <string_view>

#include "model/guards.h"

namespace reseq::test {

struct Guard {
  std::string_view name;
  bool Guards::*is_on;
};
inline constexpr std::array kGuards = {
    Guard{"offsets_in_every_transaction", &Guards::offsets_in_every_transaction},
    Guard{"high_watermark", &Guards::high_watermark},
    Guard{"requests_first", &Guards::requests_first},
    Guard{"timers_behind_input", &Guards::timers_behind_input},
    Guard{"served_bits_in_watermarks", &Guards::served_bits_in_watermarks},
    Guard{"barrier", &Guards::barrier},
    Guard{"group_metadata_of_assignment", &Guards::group_metadata_of_assignment},
    Guard{"membership_required", &Guards::membership_required},
    Guard{"clock_restored", &Guards::clock_restored},
    Guard{"tombstone_horizon", &Guards::tombstone_horizon},
    Guard{"pinned_inputs", &Guards::pinned_inputs},
    Guard{"recycle_on_doubt", &Guards::recycle_on_doubt},
};
static_assert(sizeof(Guards) == kGuards.size(), "a guard without a name");

}  // namespace reseq::test
