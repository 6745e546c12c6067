#include "runtime/desk/state_question.h"

#include <algorithm>
#include <utility>

#include "codec/keys.h"
#include "runtime/worker/survey.h"

namespace reseq::runtime {

namespace {

using Which = store::PartitionStore::Which;

// A page is below what a topic takes by default, with room for one more document.
constexpr std::size_t kPageBytes = 512 * 1024;

void find_document(const std::string& id, const PartitionTask& task, StateAnswer& answer) {
  Arena keys;
  store::LookedUp looked_up;
  engine::Lookup found = task.store().look_up(id, keys, looked_up);
  if (!found.row || found.collision) return;
  auto lanes = LaneStandings(task).of(id, *found.row);
  answer.documents.push_back({id, std::move(*found.row), std::move(lanes)});
}

// Since its first request came that waits or is under way.
std::optional<UnixMs> in_queue_since(const Row& row) {
  std::optional<UnixMs> since;
  for (const JournalEntry& entry : row.journal)
    if (entry.state != EntryState::kGone)
      since = std::min(since.value_or(entry.urgency.inserted), entry.urgency.inserted);
  return since;
}

// The longest ago that one failed that is tried again, or for good, with such an error; none: there is none.
std::optional<UnixMs> failed_since(const Row& row, bool for_good, const admin::WantedError& error) {
  std::optional<UnixMs> since;
  for (const Failure& failure : row.failures)
    if (failure.for_good == for_good && error.fits(failure.error) && !row.holding(failure).empty())
      since = std::min(since.value_or(failure.at), failure.at);
  return since;
}

// Since the first of its results came that are held, or the first of those went to work that hold others back; none:
// there is none.
std::optional<UnixMs> in_lanes_since(const std::vector<LaneStanding>& lanes, admin::State state) {
  std::optional<UnixMs> since;
  for (const LaneStanding& lane : lanes) {
    if (state == admin::State::kHeld && lane.first_held)
      since = std::min(since.value_or(lane.first_held->came), lane.first_held->came);
    if (state == admin::State::kGap && lane.blocks.count > 0)
      since = std::min(since.value_or(lane.head->since), lane.head->since);
  }
  return since;
}

bool is_wanted(const admin::ListQuery& list, const Row& row, const std::vector<LaneStanding>& lanes, UnixMs now,
               Milliseconds starvation_after, const engine::DispatchRules& dispatch) {
  switch (list.state) {
    case admin::State::kAny:
      break;
    case admin::State::kLive:
      if (!row.live()) return false;
      break;
    case admin::State::kOverdue:
      if (!row.overdue) return false;
      break;
    case admin::State::kStarving:
      if (starving_targets(row, now, starvation_after).empty()) return false;
      break;
    case admin::State::kCompleted:
      if (row.live()) return false;
      break;
    case admin::State::kWaiting:
      if (!row.waits()) return false;
      break;
    case admin::State::kProcessing:
      if (!row.processing()) return false;
      break;
    case admin::State::kStuck:
      if (!is_document_stuck(row, dispatch)) return false;
      break;
    case admin::State::kRetrying:
    case admin::State::kFailed:
      if (!failed_since(row, list.state == admin::State::kFailed, list.error)) return false;
      break;
    case admin::State::kHeld:
    case admin::State::kGap:
      if (!in_lanes_since(lanes, list.state)) return false;
      break;
  }
  if (list.older_than == Milliseconds()) return true;
  auto since = admin::is_of_the_queue(list.state) ? in_queue_since(row) : row.without_release_since();
  if (admin::is_of_lanes(list.state)) since = in_lanes_since(lanes, list.state);
  if (admin::is_of_failures(list.state)) since = failed_since(row, list.state == admin::State::kFailed, list.error);
  return since && now.value() - since->value() >= list.older_than.value();
}

// Of its JSON: a byte of an id may be written with six characters, and orders may be texts.
std::size_t bytes_max_of(const std::string& id, const Row& row, const std::vector<LaneStanding>& lanes) {
  constexpr std::size_t kRowBytes = 600;
  constexpr std::size_t kGroupBytes = 400;
  constexpr std::size_t kEntryBytes = 600;  // of a journal
  constexpr std::size_t kEscapeBytes = 6;
  std::size_t journal_bytes = 0;
  for (const Failure& failure : row.failures)
    journal_bytes += kEntryBytes + kEscapeBytes * failure.error.size() +
                     kMaxTargetNameBytes * static_cast<std::size_t>(failure.targets.size());
  for (const JournalEntry& entry : row.journal)
    journal_bytes += kEntryBytes + kMaxTargetNameBytes * static_cast<std::size_t>(entry.targets.size());
  std::size_t lane_bytes = 0;
  for (const LaneStanding& lane : lanes)
    lane_bytes += 2 * kGroupBytes + kMaxTargetNameBytes + (lane.head ? kEscapeBytes * lane.head->id.size() : 0);
  return journal_bytes + lane_bytes + kRowBytes + kEscapeBytes * id.size() +
         kGroupBytes * (row.groups.size() + row.lanes.size()) +
         2 * kMaxTargetNameBytes * static_cast<std::size_t>(row.known().size());
}

// Raw keys, then hashed ones.
void list_documents(const admin::ListQuery& list, const PartitionTask& task, const Application& application, UnixMs now,
                    StateAnswer& answer) {
  const Milliseconds starvation_after(application.settings.starvation_after_ms);
  const bool is_also_complete = list.state == admin::State::kAny || list.state == admin::State::kCompleted;
  const bool only_live =
      list.state != admin::State::kFailed && (list.older_than != Milliseconds() || !is_also_complete);
  LaneStandings standings(task);
  if (admin::is_of_lanes(list.state) && !standings.any_held()) {
    answer.ended = true;
    return;
  }
  std::size_t bytes = 0;
  const auto visit = [&](std::string id, Row row) {
    if (!id.starts_with(list.id_prefix)) return true;
    auto lanes = admin::is_of_lanes(list.state) ? standings.of(id, row) : std::vector<LaneStanding>();
    if (is_wanted(list, row, lanes, now, starvation_after, answer.dispatch)) {
      bytes += bytes_max_of(id, row, lanes);
      answer.documents.push_back({std::move(id), std::move(row), std::move(lanes)});
    }
    return answer.documents.size() < list.documents_max && bytes < kPageBytes && standings.looked_at() < kListRowsMax;
  };
  const auto prefixes = codec::document_key_prefixes(list.id_prefix);
  std::size_t rows_left = kListRowsMax;
  answer.cursor = list.cursor;
  for (const std::string& prefix : prefixes) {
    if (!answer.cursor.empty() && answer.cursor > prefix && !answer.cursor.starts_with(prefix)) continue;
    const auto walked =
        task.store().documents(answer.cursor, prefix, only_live ? Which::kLive : Which::kAll, rows_left, visit);
    if (!walked.ended) {
      answer.cursor = walked.cursor;
      return;
    }
    rows_left -= std::min(rows_left, walked.looked_at);
    answer.cursor.clear();
  }
  answer.ended = true;
}

}  // namespace

StateAnswered answer_from(const StateQuestion& question, const Worker& worker, const Application& application,
                          UnixMs now) {
  const auto& tasks = worker.tasks();
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [&](const auto& task) { return task->partition() == question.partition; });
  if (found == tasks.end()) return std::nullopt;
  const PartitionTask& task = **found;
  StateAnswer answer;
  answer.partition = worker.report_of(task);
  if (task.phase() != Phase::kRunning) {
    answer.refused = {admin::Refusal::kNotReady, "the partition is in phase " + std::string(name_of(task.phase()))};
    return answer;
  }
  answer.targets = task.targets();
  answer.dispatch = task.setting().context.dispatch;
  if (const auto* document = std::get_if<admin::DocumentQuery>(&question.what))
    find_document(document->id, task, answer);
  if (const auto* list = std::get_if<admin::ListQuery>(&question.what))
    list_documents(*list, task, application, now, answer);
  if (task.faulty()) {
    answer.documents.clear();
    answer.refused = {admin::Refusal::kFault, task.store().fault()->message};
  }
  return answer;
}

bool Mailbox::post(StateQuestion question) {
  const std::lock_guard lock(mutex_);
  if (questions_.size() >= kQuestionsMax) return false;
  questions_.push_back(std::move(question));
  waiting_ = questions_.size();
  return true;
}

std::optional<StateQuestion> Mailbox::take(Milliseconds steady) {
  if (waiting_ == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  while (!questions_.empty() && questions_.front().until <= steady) questions_.pop_front();
  std::optional<StateQuestion> question;
  if (!questions_.empty()) {
    question = std::move(questions_.front());
    questions_.pop_front();
  }
  waiting_ = questions_.size();
  return question;
}

}  // namespace reseq::runtime
