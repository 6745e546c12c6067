// Copies: what stopped processes left on disk. A copy that its process would trust is the state at one position of the
// changelog, row by row, and that position is not ahead of the log. Looked at through copies of the folders.
// Thread rule: one thread.
#pragma once

#include "base/result.h"
#include "runtime/application/application.h"
#include "tests/judge/history.h"
#include "tests/judge/judge.h"
#include "tests/judge/verdict.h"

namespace reseq::judge {

// Counts into `judgement`. An error: a folder is still held by a process, or cannot be read.
Result<> check_copies(const runtime::Application& application, const History& history, const Case& which,
                      Judgement& judgement, Verdict& verdict);

}  // namespace reseq::judge
