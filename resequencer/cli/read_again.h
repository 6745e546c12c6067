// What an input that is a dead letter would be if it came again. As the decoder judges it by itself, with the
// configuration of now. What the state decides (superseded, unregistered, sequence_reused) is known only when it is
// there.
// Thread rule: pure.
#pragma once

#include <optional>

#include "cli/dead_letter.h"
#include "model/reason.h"
#include "runtime/application/application.h"

namespace reseq::cli {

struct ReadAgain {
  std::optional<Reason> refused;  // absent: it can be read
  // It makes an order known, also one that is older than what was forgotten. A result of such an order finds nothing.
  bool registers = false;
};
[[nodiscard]] ReadAgain read_again(const DeadLetter& letter, const runtime::Application& application);

}  // namespace reseq::cli
