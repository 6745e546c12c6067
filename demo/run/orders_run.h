// The demo of targets that get every version: a history played once for a target of each order, with results that are
// lost, and judged by what stands in the outputs.
// Thread rule: one thread.
#pragma once

#include <csignal>

#include "base/result.h"
#include "demo/run/order_numbers.h"
#include "demo/run/settings.h"

namespace reseq::demo {

// `stop` is set by a signal handler. When it comes back, no process of the run is left.
Result<OrderNumbers> run_orders_demo(const Settings& settings, const volatile std::sig_atomic_t& stop);

}  // namespace reseq::demo
