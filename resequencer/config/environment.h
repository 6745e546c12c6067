// Overrides from the environment: RESEQ_<KEY>, and RESEQ_KAFKA_<PROPERTY> for the table [kafka], so that a secret need
// not stand in a file.
// Thread rule: reads the environment; call before any thread is started.
#pragma once

#include "base/result.h"
#include "config/settings.h"

namespace reseq::config {

// kInvalid: a value that its key does not allow, or a variable that is one or two letters away from a known one.
Result<> read_environment(Settings& settings);

}  // namespace reseq::config
