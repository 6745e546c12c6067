// Plan: what `[[step]]` says of the pipeline, judged before anything runs. Work is tried again from its first step, for
// the targets that did not get theirs, so a plan is good when that does no harm.
// Thread rule: pure function.
#pragma once

#include "base/result.h"
#include "config/settings.h"

namespace reseq::config {

// kInvalid: one line that names the step and the fix. REQUIRES: targets have names.
[[nodiscard]] Result<> check_plan(const Settings& settings);

}  // namespace reseq::config
