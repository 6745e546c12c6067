// How the orchestrator reaches Kafka: what it hears from the client library is told only when it is an error, because
// the terminal belongs to the progress line.
// Thread rule: pure.
#pragma once

#include "demo/run/settings.h"
#include "kafka/settings.h"

namespace reseq::demo {

[[nodiscard]] kafka::Connection connection_of(const Settings& settings);

}  // namespace reseq::demo
