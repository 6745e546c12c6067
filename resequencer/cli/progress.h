// Says on stderr how far a reading is when it takes longer than a few seconds.
// Thread rule: main thread.
#pragma once

#include <string>

#include "runtime/application/log_reading.h"

namespace reseq::cli {

[[nodiscard]] runtime::GoOn progress_of(std::string topic);

}  // namespace reseq::cli
