// Telling: what a remote sink tells over HTTP: /metrics for Prometheus, /livez and /readyz for probes.
// Thread rule: pure functions; open_http() from one thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "consumers/remote/tally.h"
#include "http/server.h"

namespace reseq::remote {

[[nodiscard]] std::string metrics_text(const Counts& counts, const Standing& standing, const Places& places);

// Ready: the server takes writes, and something is read.
[[nodiscard]] http::Answer readiness(const Standing& standing, const Places& places);

// `listen`: host:port. REQUIRES: the tally outlives the server.
[[nodiscard]] Result<std::unique_ptr<http::Server>> open_http(const std::string& listen, const Tally& tally);

}  // namespace reseq::remote
