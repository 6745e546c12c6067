#include "runtime/takeover/takeover_questions.h"

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

std::vector<Partition> partitions_of(const std::vector<Takeover*>& takeovers) {
  std::vector<Partition> partitions;
  for (const Takeover* takeover : takeovers) partitions.push_back(takeover->partition());
  return partitions;
}

// Of the takeover in this place, when all inputs of all takeovers were asked for.
std::vector<InputPosition> positions_in(const std::vector<kafka::TopicPartitionOffset>& answer, std::size_t takeover) {
  std::vector<InputPosition> positions;
  for (std::size_t i = 0; i < kInputs.size(); ++i)
    positions.push_back({kInputs[i], answer[takeover * kInputs.size() + i].offset});
  return positions;
}

}  // namespace

void TakeoverQuestions::ask(const Takeovers& all, kafka::Consumer& consumer, changelog::Restorer& restorer) {
  Takeovers of_offsets;
  Takeovers of_ends;
  Takeovers of_first_offsets;
  for (Takeover* takeover : all) {
    const TakeoverQuestion question = takeover->question();
    if (question == TakeoverQuestion::kOffsets) of_offsets.push_back(takeover);
    if (question == TakeoverQuestion::kChangelogEnds) of_ends.push_back(takeover);
    if (question == TakeoverQuestion::kFirstOffsets) of_first_offsets.push_back(takeover);
  }
  if (!of_ends.empty()) ask_ends(next(ends_, std::move(of_ends)), restorer);
  if (!of_offsets.empty()) ask_offsets(next(offsets_, std::move(of_offsets)), consumer, restorer);
  if (!of_first_offsets.empty())
    ask_first_offsets(next(first_offsets_, std::move(of_first_offsets)), consumer, restorer);
}

// REQUIRES: there are some, by partition.
TakeoverQuestions::Takeovers TakeoverQuestions::next(Turn& turn, Takeovers candidates) {
  if (turn.together < candidates.size()) {
    const auto first = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const Takeover* takeover) { return takeover->partition() > turn.after; });
    std::rotate(candidates.begin(), first, candidates.end());
    candidates.resize(turn.together);
  }
  turn.after = candidates.back()->partition();
  return candidates;
}

void TakeoverQuestions::answered(Turn& turn) {
  turn.together = turn.together > SIZE_MAX / 2 ? SIZE_MAX : turn.together * 2;
}

void TakeoverQuestions::unanswered(Turn& turn, const Takeovers& asked, Waiting what, const Error& error) {
  turn.together = std::max<std::size_t>(1, asked.size() / 2);
  for (Takeover* takeover : asked) takeover->wait_for_answer(what, told(error));
  if (asked.size() == 1) asked.front()->wait_longer();
}

void TakeoverQuestions::ask_offsets(const Takeovers& takeovers, kafka::Consumer& consumer,
                                    changelog::Restorer& restorer) {
  // A batch writes to the changelog before it sends its offsets.
  const auto ends = restorer.ends(partitions_of(takeovers), kAskLimit);
  if (!ends) return unanswered(offsets_, takeovers, Waiting::kChangelogEnds, ends.error());
  Takeovers quiet;
  Takeovers open;
  for (std::size_t i = 0; i < takeovers.size(); ++i)
    (ends.value()[i].transaction_open() ? open : quiet).push_back(takeovers[i]);
  if (quiet.empty())
    answered(offsets_);
  else
    ask_offsets(offsets_, quiet, consumer);
  if (!open.empty()) ask_offsets_of_open(std::move(open), consumer);
}

void TakeoverQuestions::ask_offsets_of_open(Takeovers takeovers, kafka::Consumer& consumer) {
  std::sort(takeovers.begin(), takeovers.end(),
            [](const Takeover* a, const Takeover* b) { return a->partition() < b->partition(); });
  if (clock_.steady() >= offsets_of_open_.not_before &&
      !ask_offsets(offsets_of_open_, next(offsets_of_open_, takeovers), consumer))
    offsets_of_open_.not_before = Milliseconds(clock_.steady().value() + kAfterSilence.value());
  for (Takeover* takeover : takeovers)
    if (takeover->question() == TakeoverQuestion::kOffsets) takeover->wait_before_next_step(kLookAgainAfter);
}

bool TakeoverQuestions::ask_offsets(Turn& turn, const Takeovers& takeovers, kafka::Consumer& consumer) {
  const auto committed = consumer.committed(inputs_of(takeovers), kAskLimit);
  if (!committed) {
    unanswered(turn, takeovers, Waiting::kCommittedOffsets, committed.error());
    return false;
  }
  answered(turn);
  for (std::size_t i = 0; i < takeovers.size(); ++i) takeovers[i]->take_offsets(positions_in(committed.value(), i));
  return true;
}

void TakeoverQuestions::ask_ends(const Takeovers& takeovers, changelog::Restorer& restorer) {
  auto ends = restorer.ends(partitions_of(takeovers), kAskLimit);
  if (!ends) return unanswered(ends_, takeovers, Waiting::kChangelogEnds, ends.error());
  if (!application_.guards.high_watermark)
    for (changelog::LogEnds& log : ends.value()) log.high_watermark = log.stable_end;
  answered(ends_);
  for (std::size_t i = 0; i < takeovers.size(); ++i) takeovers[i]->take_ends(ends.value()[i], restorer);
}

void TakeoverQuestions::ask_first_offsets(const Takeovers& takeovers, kafka::Consumer& consumer,
                                          changelog::Restorer& restorer) {
  const std::vector<kafka::TopicPartition> inputs = inputs_of(takeovers);
  const auto first = application_.settings.first_start == "end" ? consumer.stable_ends(inputs, kAskLimit)
                                                                : consumer.begins(inputs, kAskLimit);
  if (!first) return unanswered(first_offsets_, takeovers, Waiting::kFirstOffsets, first.error());
  answered(first_offsets_);
  for (std::size_t i = 0; i < takeovers.size(); ++i)
    takeovers[i]->take_first_offsets(positions_in(first.value(), i), restorer);
}

std::vector<kafka::TopicPartition> TakeoverQuestions::inputs_of(const Takeovers& takeovers) const {
  std::vector<kafka::TopicPartition> inputs;
  for (const Takeover* takeover : takeovers)
    for (const Role role : kInputs) inputs.push_back({application_.topics.of(role), takeover->partition()});
  return inputs;
}

}  // namespace reseq::runtime
