// Session: asks the instances that run, again and again until all that were meant have answered.
// Thread rule: main thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "admin/answers.h"
#include "admin/asker.h"
#include "cli/ask.h"

namespace reseq::cli {

using admin::Answers;
using HasAll = admin::Asker::HasAll;

// Every partition is answered for.
[[nodiscard]] bool whole(const Answers& answers);
// Every partition that the request was meant for is.
[[nodiscard]] bool all_asked(const Answers& answers);
// This partition could not answer.
[[nodiscard]] bool is_refused(const admin::Json& part);

// Why those that have not answered did not, for a person: parked, or nobody has them.
[[nodiscard]] std::string why_unanswered(const Answers& answers);

// Why a document may be unknown to all that have answered.
[[nodiscard]] std::string why_unknown(const Answers& answers);

class Session {
 public:
  static Result<std::unique_ptr<Session>> open(const config::Settings& settings, const AskOptions& options);

  // Asks until `has_all`, the time is over, or the request is refused.
  Result<> collect(const admin::Query& query, Answers& answers, const HasAll& has_all);
  // Asks once and listens for a round: nobody knows how many instances there are.
  Result<> collect_instances(const admin::Query& query, Answers& answers);

 private:
  Session(admin::Asker asker, const AskOptions& options) : asker_(std::move(asker)), options_(options) {}

  admin::Asker asker_;
  AskOptions options_;
};

}  // namespace reseq::cli
