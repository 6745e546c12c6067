// seek: the one way to make a stopped application go on from other input positions than those it stands at, or to
// accept offsets that something else committed. The meta row in the changelog and the committed
// offsets change together, in one transaction.
// Thread rule: main thread.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/init.h"
#include "config/settings.h"

namespace reseq::cli {

// Where to, as words of the command line: standing (where the state stands) | committed | begin | end | an offset. An
// input that is not named is left standing.
struct SeekRequest {
  std::optional<std::int32_t> partition = {};  // empty = all
  std::optional<std::string> requests = {};
  std::optional<std::string> control = {};
  std::optional<std::string> commands = {};
};

// REQUIRES: an input is named. Prints a line per partition and input. kInvalid: a word or offset that cannot be, an
// instance that still runs, or a partition without state.
Result<> seek(config::Settings settings, const SeekRequest& request, Write write);

}  // namespace reseq::cli
