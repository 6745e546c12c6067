#include "runtime/worker/takeover_questions.h"

#include <algorithm>
#include <utility>

#include "runtime/application/clients.h"

namespace reseq::runtime {

namespace {

// Of one call. Short, so that the worker keeps serving its other partitions while nobody answers.
constexpr Milliseconds kAskLimit{500};
// Between two looks whether a transaction is still open.
constexpr Milliseconds kLookAgainAfter{100};
constexpr Milliseconds kAfterSilence{1000};

std::vector<Partition> partitions_of(const std::vector<PartitionTask*>& tasks) {
  std::vector<Partition> partitions;
  for (const PartitionTask* task : tasks) partitions.push_back(task->partition());
  return partitions;
}

// Of the task in this place, when all inputs of all tasks were asked for.
std::vector<InputPosition> positions_in(const std::vector<kafka::TopicPartitionOffset>& answer, std::size_t task) {
  std::vector<InputPosition> positions;
  for (std::size_t i = 0; i < kInputs.size(); ++i)
    positions.push_back({kInputs[i], answer[task * kInputs.size() + i].offset});
  return positions;
}

}  // namespace

void TakeoverQuestions::ask(std::span<const std::unique_ptr<PartitionTask>> tasks, kafka::Consumer& consumer,
                            changelog::Restorer& restorer) {
  Tasks of_offsets;
  Tasks of_ends;
  Tasks of_first_offsets;
  for (const auto& task : tasks) {
    const Question question = task->question();
    if (question == Question::kOffsets) of_offsets.push_back(task.get());
    if (question == Question::kChangelogEnds) of_ends.push_back(task.get());
    if (question == Question::kFirstOffsets) of_first_offsets.push_back(task.get());
  }
  if (!of_ends.empty()) ask_ends(next(ends_, std::move(of_ends)), restorer);
  if (!of_offsets.empty()) ask_offsets(next(offsets_, std::move(of_offsets)), consumer, restorer);
  if (!of_first_offsets.empty())
    ask_first_offsets(next(first_offsets_, std::move(of_first_offsets)), consumer, restorer);
}

// REQUIRES: there are some, by partition.
TakeoverQuestions::Tasks TakeoverQuestions::next(Turn& turn, Tasks candidates) {
  if (turn.together < candidates.size()) {
    const auto first = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const PartitionTask* task) { return task->partition() > turn.after; });
    std::rotate(candidates.begin(), first, candidates.end());
    candidates.resize(turn.together);
  }
  turn.after = candidates.back()->partition();
  return candidates;
}

void TakeoverQuestions::answered(Turn& turn) {
  turn.together = turn.together > SIZE_MAX / 2 ? SIZE_MAX : turn.together * 2;
}

void TakeoverQuestions::unanswered(Turn& turn, const Tasks& asked, Waiting what, const Error& error) {
  turn.together = std::max<std::size_t>(1, asked.size() / 2);
  for (PartitionTask* task : asked) task->wait_for_answer(what, told(error));
  if (asked.size() == 1) asked.front()->wait_longer();
}

void TakeoverQuestions::ask_offsets(const Tasks& tasks, kafka::Consumer& consumer, changelog::Restorer& restorer) {
  // A batch writes to the changelog before it sends its offsets.
  const auto ends = restorer.ends(partitions_of(tasks), kAskLimit);
  if (!ends) return unanswered(offsets_, tasks, Waiting::kChangelogEnds, ends.error());
  Tasks quiet;
  Tasks open;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    (ends.value()[i].transaction_open() ? open : quiet).push_back(tasks[i]);
  if (quiet.empty())
    answered(offsets_);
  else
    ask_offsets(offsets_, quiet, consumer);
  if (!open.empty()) ask_offsets_of_open(std::move(open), consumer);
}

void TakeoverQuestions::ask_offsets_of_open(Tasks tasks, kafka::Consumer& consumer) {
  std::sort(tasks.begin(), tasks.end(),
            [](const PartitionTask* a, const PartitionTask* b) { return a->partition() < b->partition(); });
  if (clock_.steady() >= offsets_of_open_.not_before &&
      !ask_offsets(offsets_of_open_, next(offsets_of_open_, tasks), consumer))
    offsets_of_open_.not_before = Milliseconds(clock_.steady().value() + kAfterSilence.value());
  for (PartitionTask* task : tasks)
    if (task->question() == Question::kOffsets) task->wait_before_next_step(kLookAgainAfter);
}

bool TakeoverQuestions::ask_offsets(Turn& turn, const Tasks& tasks, kafka::Consumer& consumer) {
  const auto committed = consumer.committed(inputs_of(tasks), kAskLimit);
  if (!committed) {
    unanswered(turn, tasks, Waiting::kCommittedOffsets, committed.error());
    return false;
  }
  answered(turn);
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i]->take_offsets(positions_in(committed.value(), i));
  return true;
}

void TakeoverQuestions::ask_ends(const Tasks& tasks, changelog::Restorer& restorer) {
  auto ends = restorer.ends(partitions_of(tasks), kAskLimit);
  if (!ends) return unanswered(ends_, tasks, Waiting::kChangelogEnds, ends.error());
  if (!application_.guards.high_watermark)
    for (changelog::LogEnds& log : ends.value()) log.high_watermark = log.stable_end;
  answered(ends_);
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i]->take_ends(ends.value()[i], restorer);
}

void TakeoverQuestions::ask_first_offsets(const Tasks& tasks, kafka::Consumer& consumer,
                                          changelog::Restorer& restorer) {
  const std::vector<kafka::TopicPartition> inputs = inputs_of(tasks);
  const auto first = application_.settings.first_start == "end" ? consumer.stable_ends(inputs, kAskLimit)
                                                                : consumer.begins(inputs, kAskLimit);
  if (!first) return unanswered(first_offsets_, tasks, Waiting::kFirstOffsets, first.error());
  answered(first_offsets_);
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i]->take_first_offsets(positions_in(first.value(), i), restorer);
}

std::vector<kafka::TopicPartition> TakeoverQuestions::inputs_of(const Tasks& tasks) const {
  std::vector<kafka::TopicPartition> inputs;
  for (const PartitionTask* task : tasks)
    for (const Role role : kInputs) inputs.push_back({application_.topics.of(role), task->partition()});
  return inputs;
}

}  // namespace reseq::runtime
