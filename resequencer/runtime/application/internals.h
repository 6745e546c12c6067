// Internals: what no operator sets and every program of the product leaves as it is; tests set it that show what a
// precaution is for, or that bring about what a host cannot be made to do.
// Thread rule: plain values.
#pragma once

#include <optional>
#include <string>

#include "engine/context.h"
#include "model/guards.h"
#include "model/ids.h"
#include "store/disk_copy.h"

namespace reseq::runtime {

struct Internals {
  Guards guards = {};
  const engine::Gate* gate = nullptr;  // in front of `work`; it outlives the process's run
  store::DiskSettings disk = {};
  std::optional<std::string> boot_id = {};  // instead of the kernel's
  // A worker that is in one step for so long will not come back: the process ends, and its supervisor starts it anew.
  Milliseconds stuck_after{60'000};
};

}  // namespace reseq::runtime
