// How a command ended, for people, and what that says of the document that it had.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/child.h"
#include "consumers/stage/result.h"

namespace reseq::command {

// "ended with exit code 3", "was killed by signal 9".
[[nodiscard]] std::string in_words(const Ending& ending);

// Exit code 75 (EX_TEMPFAIL) is transient, anything else is of an unknown kind. Neither says that nothing was done. The
// error is the last line that it has written to its standard error; without one how it ended.
[[nodiscard]] stage::WorkFailure failure_of(const Ending& ending, std::string_view last_line);

}  // namespace reseq::command
