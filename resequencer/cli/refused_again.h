// Would an input that is a dead letter become one again? As the decoder judges it by itself, with the configuration of
// now. What the state decides (superseded, unregistered, sequence_reused) is known only when it is there.
// Thread rule: pure.
#pragma once

#include <optional>

#include "cli/dead_letter.h"
#include "model/reason.h"
#include "runtime/application.h"

namespace reseq::cli {

// Absent: it can be read.
[[nodiscard]] std::optional<Reason> refused_again(const DeadLetter& letter, const runtime::Application& application);

}  // namespace reseq::cli
