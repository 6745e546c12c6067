// What Prometheus scrapes of an instance (docs/metrics.md). Names begin with `reseq_`, words are those of the wire
// contract; nothing that comes from a record stands in a label.
// Thread rule: pure function of what workers have published.
#pragma once

#include <string>
#include <vector>

#include "runtime/application/application.h"
#include "runtime/worker/report.h"

namespace reseq::runtime {

[[nodiscard]] std::string metrics_text(const Application& application, const std::vector<Board::Seen>& seen,
                                       Milliseconds steady, Milliseconds brokers_away = {});

}  // namespace reseq::runtime
