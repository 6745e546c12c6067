// Rules between keys: what can be said about a configuration without asking a broker or a disk.
// Thread rule: pure function.
#pragma once

#include "base/result.h"
#include "config/settings.h"

namespace reseq::config {

// kInvalid: one line that names the key and the fix. REQUIRES: topics have names (name_topics).
[[nodiscard]] Result<> check(const Settings& settings);

}  // namespace reseq::config
