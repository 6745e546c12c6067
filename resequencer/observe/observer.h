// Observer: shadow mode, the life of the process: looks at a live pipeline, counts, and writes a report into its own
// folder. To Kafka it writes nothing: it has no producer, no group and no transactional id (docs/shadow.md).
// Thread rule: main thread; one more answers /metrics.
#pragma once

#include "base/result.h"
#include "config/settings.h"
#include "observe/report.h"

namespace reseq::observe {

// Until observe.for is over, SIGINT or SIGTERM. The last report; an error names what a person must do.
Result<Json> observe(config::Settings settings, bool anew);

// The report of an observer that runs, has ended or was killed. kInvalid: there is none.
Result<Json> read_report(const config::Settings& settings);

}  // namespace reseq::observe
