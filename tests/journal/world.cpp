#include "tests/journal/world.h"

#include <algorithm>
#include <ostream>

namespace reseq::journal {
namespace {

constexpr int kRoundsMax = 2'000;  // more than it takes to end everything

}  // namespace

void Hits::count(const Answer& answer) {
  ++batches;
  std::uint64_t forwarded = 0;
  for (const Verdict& verdict : answer.verdicts) {
    ++outcomes[static_cast<std::size_t>(verdict.outcome)];
    ++reasons[static_cast<std::size_t>(verdict.reason)];
    forwarded += verdict.outcome == Outcome::kForwarded ? 1U : 0U;
  }
  dispatched += answer.dispatched.size();
  dispatched_later += answer.dispatched.size() - forwarded;
  again += static_cast<std::uint64_t>(std::count_if(answer.dispatched.begin(), answer.dispatched.end(),
                                                    [](const Dispatched& one) { return one.attempt > 1; }));
  timed_out += answer.timed_out.size();
}

std::ostream& operator<<(std::ostream& out, const Hits& hits) {
  out << "batches " << hits.batches << ", dispatched " << hits.dispatched << ", later " << hits.dispatched_later
      << ", again " << hits.again << ", timed out " << hits.timed_out << "\n";
  for (std::size_t i = 0; i < hits.outcomes.size(); ++i)
    if (hits.outcomes[i] != 0) out << "  " << kOutcomeNames[i] << ' ' << hits.outcomes[i];
  out << "\n";
  for (std::size_t i = 0; i < hits.reasons.size(); ++i)
    if (hits.reasons[i] != 0) out << "  " << kReasonNames[i] << ' ' << hits.reasons[i];
  return out << "\n";
}

std::string World::play() {
  for (const Step& step : history_.steps) {
    feed_.play(step);
    run_batches();
    if (!violation_.empty()) return violation_;
  }
  finish();
  return violation_;
}

void World::run_batches() {
  while (const auto batch = feed_.next()) {
    const Answer answer = player_.play(*batch);
    feed_.take(answer);
    if (hits_ != nullptr) hits_->count(answer);
    for (const Released& one : answer.released) last_releases_[{one.document, one.target}] = one.order;
    batches_.emplace_back(*batch, answer);
    if (rival_ == nullptr || !violation_.empty()) continue;
    rivals_last_ = rival_->play(*batch);
    violation_ = difference(*batch, answer, rivals_last_);
  }
}

// Workers answer all that they have; what they lost comes back when the clock has moved; what only a command
// registered is answered last.
void World::finish() {
  for (int round = 0; round < kRoundsMax && violation_.empty(); ++round) {
    if (!feed_.finish()) {
      const bool ended = !batches_.empty() && batches_.back().second.waiting + batches_.back().second.processing == 0;
      if (ended) {
        const std::vector<Pending> pending = player_.pending();
        if (pending.empty()) return;
        for (const Pending& one : pending) feed_.answer(one.document, one.order, one.target, one.attempt);
      }
      const TargetSet down = batches_.empty() ? TargetSet() : batches_.back().second.down;
      if (!down.empty() && round % 8 == 7) feed_.resume(down);  // some may not be tried before
      feed_.move_clock(kBehindAllDates);
      feed_.want_batch();
    }
    run_batches();
  }
  if (violation_.empty()) violation_ = "something waits for ever";
}

std::string World::story() const {
  std::string story;
  for (const auto& [batch, answer] : batches_) story += describe(batch, answer);
  if (rival_ != nullptr && !batches_.empty()) story += "the rival: " + describe(batches_.back().first, rivals_last_);
  return story;
}

}  // namespace reseq::journal
