// The demo of work that fails: the history goes through workers that die, stand still and say that they cannot do their
// work, and one of the two targets is down twice: until it is back, and until an operator says that it is. In the end
// every document is right in both targets, or is failed with its error.
// Thread rule: one thread.
#pragma once

#include <csignal>

#include "base/result.h"
#include "demo/run/failure_numbers.h"
#include "demo/run/settings.h"

namespace reseq::demo {

// An error means that there is no answer: a process died, Kafka is gone, a signal came (kAbort).
Result<FailureNumbers> run_failures_demo(const Settings& settings, const volatile std::sig_atomic_t& stop);

}  // namespace reseq::demo
