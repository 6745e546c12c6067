// The demo, from start to proof: topics, resequencers, the scrambling pipeline, the sinks of both targets with and
// without the resequencer, and the git source as processes of their own; then the comparison of all sinks with the
// commit.
// Thread rule: one thread.
#pragma once

#include <csignal>

#include "base/result.h"
#include "demo/run/numbers.h"
#include "demo/run/settings.h"

namespace reseq::demo {

// `stop` is set by a signal handler. When it comes back, no process of the run is left.
Result<Numbers> run_demo(const Settings& settings, const volatile std::sig_atomic_t& stop);

}  // namespace reseq::demo
