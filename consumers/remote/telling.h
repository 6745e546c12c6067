// Telling: what a remote sink tells over HTTP: /metrics for Prometheus, /livez and /readyz for probes.
// Thread rule: pure functions; open_http() from one thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "consumers/remote/tally.h"
#include "http/server.h"
#include "kafka/broker_watch.h"

namespace reseq::remote {

using Away = std::optional<kafka::BrokersAway>;

[[nodiscard]] std::string metrics_text(const Counts& counts, const Standing& standing, const Places& places,
                                       const Away& brokers);

// Ready: the server takes writes, and the brokers answer.
[[nodiscard]] http::Answer readiness(const Standing& standing, const Places& places, const Away& brokers);

// Live: the reader goes round. It does whatever the server and the brokers do, so where it does not, only a new start
// helps.
[[nodiscard]] http::Answer liveness(const Places& places, std::chrono::steady_clock::time_point now);

// `listen`: host:port. REQUIRES: tally and brokers outlive the server.
[[nodiscard]] Result<std::unique_ptr<http::Server>> open_http(const std::string& listen, const Tally& tally,
                                                              const kafka::BrokerWatch& brokers);

}  // namespace reseq::remote
