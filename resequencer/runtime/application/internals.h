// Internals: what no operator sets and every program of the product leaves as it is; tests set it that show what a
// precaution is for, or that bring about what a host cannot be made to do.
// Thread rule: plain values.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "config/settings.h"
#include "engine/context.h"
#include "model/guards.h"
#include "model/ids.h"
#include "store/disk_copy.h"

namespace reseq::runtime {

// What the page may do, if it may: each answers with what `-o json` of the command prints. A failure tells an operator
// why. Empty: nothing of it can be done.
struct PageOperations {
  // Documents that failed for good and whose error is shown as this are requested once more (empty: nothing was said):
  // a slice of them, from a place on that the slice before has told; empty: from the beginning.
  std::function<Result<std::string>(const config::Settings&, const std::string& error, const std::string& from)>
      reprocess = {};
  // This target can be reached again.
  std::function<Result<std::string>(const config::Settings&, const std::string& target)> resume = {};
};

struct Internals {
  Guards guards = {};
  const engine::Gate* gate = nullptr;  // in front of `work`; it outlives the process's run
  store::DiskSettings disk = {};
  std::optional<std::string> boot_id = {};  // instead of the kernel's
  // A worker that is in one step for so long will not come back: the process ends, and its supervisor starts it anew.
  Milliseconds stuck_after{60'000};
  PageOperations page_operations = {};  // set by the command line, which has them
};

}  // namespace reseq::runtime
