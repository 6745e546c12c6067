#include "tests/judge/review.h"

#include <set>
#include <string>
#include <utility>
#include <variant>

#include "codec/rows.h"
#include "tests/judge/checks.h"
#include "tests/judge/dispatches.h"
#include "tests/judge/expected_end.h"
#include "tests/judge/lanes.h"

namespace reseq::judge {

namespace {

std::set<std::string> documents_of(const Fold& fold) {
  std::set<std::string> ids;
  for (const auto& [key, value] : fold.rows()) {
    const auto decoded = codec::decode_row(key, value);
    if (const auto* document = std::get_if<codec::DocumentRow>(&decoded)) ids.insert(document->id);
  }
  return ids;
}

}  // namespace

std::vector<Fold> review(const runtime::Application& application, const History& history,
                         const Specification& specification, const ReviewOptions& options, Verdict& verdict) {
  std::vector<Fold> folds;
  Produced produced(application.topics.names().size());
  check_versions(application, history, verdict);
  for (std::int32_t p = 0; p < application.partitions; ++p) {
    const Partition partition(p);
    Tiles tiles(application, history, partition, verdict);
    Dispatches dispatches(application.settings, partition, verdict);
    ExpectedEnd end(application.settings, specification, verdict);
    Lanes lanes(application.settings, partition, verdict);
    Replay(application, history, partition, produced, verdict).run([&](const ReplayedBatch& batch) {
      options.visit(partition, batch);
      tiles.take(batch);
      dispatches.take(batch);
      end.take(batch);
      lanes.take(batch);
      if (options.exact_timers) check_timers(application, history, partition, batch, verdict);
    });
    tiles.finish();
    lanes.finish();
    folds.push_back(check_fold(application, history, partition, verdict));
    check_nothing_waits(partition, folds.back(), verdict);
    end.finish(documents_of(folds.back()));
  }
  produced.compare(application, history, verdict);
  return folds;
}

}  // namespace reseq::judge
