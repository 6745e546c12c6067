#include "tests/judge/judge.h"

#include <optional>

#include "kafka/librdkafka_cluster.h"
#include "runtime/application/clients.h"
#include "tests/judge/checks.h"
#include "tests/judge/cluster_history.h"
#include "tests/judge/copies.h"
#include "tests/judge/review.h"

namespace reseq::judge {

Result<Judgement> judge(const Case& which, const Specification& specification) {
  runtime::Application application(which.settings);
  application.gate = which.gate;
  auto cluster = kafka::open_cluster(runtime::cluster_settings_of(application, std::nullopt));
  if (!cluster) return cluster.error();
  const auto answers = application.ask(*cluster.value(), kAskLimit);
  if (!answers) return answers.error();

  Verdict verdict;
  Judgement judgement;
  History history;
  if (auto read = read_history(application, which.patience, history, verdict); !read) return read.error();
  judgement.records = history.records();
  ReviewOptions options;
  options.visit = [&](Partition, const ReplayedBatch& batch) {
    ++judgement.batches;
    for (const Decided& one : batch.inputs) {
      if (one.decision.outcome == Outcome::kUnchanged) ++judgement.unchanged;
      if (one.decision.outcome == Outcome::kHeld) ++judgement.held;
      const TableRow row = one.decision.table_row;
      if (row == TableRow::kF3 || row == TableRow::kF4 || row == TableRow::kF5) ++judgement.failed;
    }
    for (const GivenUp& one : batch.given_up)
      if (one.reason == Reason::kGap) ++judgement.skipped;
  };
  const auto states = review(application, history, specification, options, verdict);
  const auto committed = read_offsets(application);
  if (!committed) return committed.error();
  check_offsets(application, committed.value(), states, verdict);
  if (auto looked = check_copies(application, history, which, judgement, verdict); !looked) return looked.error();
  judgement.violations = verdict.count();
  judgement.lines = verdict.lines();
  return judgement;
}

}  // namespace reseq::judge
