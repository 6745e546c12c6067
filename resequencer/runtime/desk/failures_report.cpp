#include "runtime/desk/failures_report.h"

#include <algorithm>

#include "admin/failure_answers.h"
#include "admin/query.h"

namespace reseq::runtime {

namespace {

using admin::Json;

static_assert(FailureGroups::kTextBytes == admin::kShownErrorBytes, "a group that cannot be asked for");

Json counts_json(const FailureCounts& counts) {
  return {{"failed", counts.failed}, {"retrying", counts.retrying}};
}

Json group_json(const FailureGroup& group) {
  Json object = counts_json(group.documents);
  if (!group.error.empty()) admin::set_bytes(object, "error", group.error);
  object["last"] = admin::time_text(group.last);
  object["examples"] = Json::array();
  for (const std::string& id : group.examples) {
    Json example = Json::object();
    admin::set_bytes(example, "id", id);
    object["examples"].push_back(std::move(example));
  }
  return object;
}

}  // namespace

Json failures_json(const std::vector<Board::Seen>& seen) {
  FailureGroups all;
  for (const Board::Seen& worker : seen)
    for (const PartitionReport& partition : worker.now->partitions)
      if (partition.survey && partition.survey->failures) all.add(*partition.survey->failures);
  if (all.documents().all() == 0) return nullptr;
  Json object = counts_json(all.documents());
  object["errors"] = Json::array();
  FailureCounts others = all.others();
  std::vector<FailureGroup> groups = all.largest(FailureGroups::kGroupsMax);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i < admin::kErrorsMax)
      object["errors"].push_back(group_json(groups[i]));
    else
      others += groups[i].documents;
  }
  if (others.all() > 0) object["others"] = counts_json(others);
  return object;
}

Json breaker_changes_json(const std::vector<Board::Seen>& seen) {
  std::vector<const BreakerChange*> all;
  for (const Board::Seen& worker : seen)
    for (auto change = worker.now->breaker_changes.rbegin(); change != worker.now->breaker_changes.rend(); ++change)
      all.push_back(&*change);
  std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->at > b->at; });
  all.resize(std::min(all.size(), admin::kBreakerChangesMax));
  Json changes = Json::array();
  for (const BreakerChange* change : all) {
    Json object = {{"partition", change->partition.value()},
                   {"target", change->target},
                   {"down", change->down},
                   {"at", admin::time_text(change->at)}};
    if (!change->error.empty()) admin::set_bytes(object, "error", change->error);
    changes.push_back(std::move(object));
  }
  return changes;
}

}  // namespace reseq::runtime
