#include "tests/bench/backlog.h"

#include <csignal>
#include <stdexcept>

#include "tests/bench/journal.h"
#include "tests/bench/output_check.h"
#include "tests/e2e/outputs.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

constexpr Milliseconds kEndsLimit{10'000};
constexpr int kDeathLimitMs = 10'000;

}  // namespace

Backlog::Backlog(const Site& site, const Requests& requests, std::uint64_t held_bytes_max)
    : requests_(requests),
      held_bytes_max_(held_bytes_max),
      application_(site, "backlog", Mode::kLife, {.settings = in_flight_max(1)}),
      taken_(application_, "requests"),
      admin_(test::good(kafka::Admin::open(site.connection()))) {
  requests.send(site.connection(), application_.topic("requests"), {.priorities = kPriorities});
  processes_ = bench::start(resequencer(site), application_);
  (void)await(requests.all().size(), taken_, processes_);
  let_through_before_ = test::good(admin_->stable_ends(application_.topic("work"), kEndsLimit));
  std::uint64_t gone = 0;
  test::read_all(site.connection(), application_.topic("work"), [&](const kafka::PlainRecord&) { ++gone; });
  waiting_ = requests.all().size() - gone;
  if (waiting_ + static_cast<std::uint64_t>(application_.partitions()) < requests.all().size())
    throw std::runtime_error("only " + std::to_string(waiting_) + " documents wait");
}

std::string Backlog::in_flight_max(std::uint64_t documents) const {
  return kJournal + "dispatch.in_flight_max = " + std::to_string(documents) +
         "\nheld_bytes_max = " + std::to_string(held_bytes_max_) + "\n";
}

void Backlog::stop() {
  bench::stop(processes_);
  processes_.clear();
}

void Backlog::kill() {
  processes_.front()->signal(SIGKILL);
  (void)processes_.front()->wait(kDeathLimitMs);
  processes_.clear();
}

Start Backlog::start(const std::string& settings) {
  application_.configure(settings);
  return start_again(application_, processes_);
}

std::uint64_t Backlog::appended() const {
  return bench::appended(*admin_, application_.topic("work"));
}

Measured Backlog::dispatch() {
  (void)start(in_flight_max(1'000'000'000));
  const Sample begin = sample(taken_, processes_);
  Sample end = begin;
  // Nobody says when it was the last one: what is there is counted afterwards.
  const auto grew = [&] { end = sample(taken_, processes_); };
  await_last(
      requests_.all().size(), [&] { return appended(); }, grew, processes_);
  stop();
  check_work(application_, requests_, Completeness::kEveryRequest);
  check_classes(application_, let_through_before_);
  return between(begin, end, static_cast<double>(waiting_));
}

Measured Backlog::drain() {
  const auto echo = start_echo(application_);
  Progress answered(application_, "commands");
  (void)start_draining();
  const Sample begin = sample(answered, processes_);
  const Sample end = await(requests_.all().size() * kTargetCount, answered, processes_);
  stop();
  bench::stop(*echo);
  check_work(application_, requests_, Completeness::kEveryRequest);
  check_classes(application_, let_through_before_);
  check_outputs(application_, requests_);
  return between(begin, end, static_cast<double>(end.done - begin.done) / kTargetCount);
}

}  // namespace reseq::bench
