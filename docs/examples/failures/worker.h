// Results for both targets, with the stage library: the handler of run_stage().
#include <string>
#include <vector>

#include "consumers/stage/stage.h"

inline std::vector<reseq::stage::StageResult> answer(const reseq::stage::Work& work) {
  using reseq::FailureKind;
  using reseq::FailureScope;
  using reseq::stage::Answer;
  const std::string payload = work.payload.value_or("");
  if (payload == "locked" && work.header("reseq-attempt").empty())
    return {{.target = "search", .payload = payload},
            {.answer = Answer::kFail,
             .target = "catalogue",
             .failure = {.kind = FailureKind::kTransient, .error = "the page is locked"}}};
  if (payload == "pdf")
    return {{.answer = Answer::kFail, .failure = {.kind = FailureKind::kPermanent, .error = "no PDF"}}};
  if (payload == "away")
    return {{.answer = Answer::kFail, .failure = {.scope = FailureScope::kUniversal, .error = "connection refused"}}};
  if (payload == "crash") return {{.answer = Answer::kFail, .failure = {.error = "nobody has thought of that"}}};
  return {{.target = "search", .payload = payload}, {.target = "catalogue", .payload = payload}};
}
