// Topic rules: what the topics of an application must be like, judged from what the brokers tell about them. The same
// rules for `check`, which shows all that is wrong, and for `run`, which refuses to start at the first error.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <vector>

#include "runtime/application/application.h"

namespace reseq::runtime {

enum class Severity : unsigned char {
  kWarning,  // works, but not as one may think
  kUnsafe,   // `check` refuses it, `run` says so and goes on: nothing is wrong until inputs are read again
  kError,    // `run` refuses it
};

struct Finding {
  Severity severity = Severity::kError;
  std::string text;            // one line: what is wrong, and the fix
  bool about_a_right = false;  // judge_rights() says more
};

// Everything that is wrong, missing topics first.
[[nodiscard]] std::vector<Finding> judge_topics(const Application& application, const TopicAnswers& answers);

}  // namespace reseq::runtime
