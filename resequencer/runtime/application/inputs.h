// The inputs, and the order in which they stand wherever something is kept for each.
// Thread rule: constants.
#pragma once

#include <array>
#include <cstddef>

#include "model/ids.h"

namespace reseq::runtime {

// The three inputs in the order in which a batch decides them.
inline constexpr std::array<Role, 3> kInputs = {Role::kRequests, Role::kControl, Role::kCommands};

// The place of an input in kInputs. REQUIRES: the role is that of an input.
[[nodiscard]] constexpr std::size_t slot_of(Role role) {
  return role == Role::kRequests ? 0 : role == Role::kControl ? 1 : 2;
}
static_assert(slot_of(kInputs[0]) == 0 && slot_of(kInputs[1]) == 1 && slot_of(kInputs[2]) == 2);

}  // namespace reseq::runtime
