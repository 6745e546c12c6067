// The configuration file of one resequencer of the demo.
// Thread rule: pure, but for the file.
#pragma once

#include <string>

#include "base/result.h"
#include "demo/run/settings.h"

namespace reseq::demo {

[[nodiscard]] std::string instance_config(const Settings& settings, const std::string& instance_id);

// Writes it into the work folder and answers the path.
Result<std::string> write_instance_config(const Settings& settings, const std::string& instance_id);

}  // namespace reseq::demo
