#include "tests/bench/backlog.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "tests/bench/journal.h"
#include "tests/bench/output_check.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Milliseconds kEndsLimit{10'000};
constexpr int kDeathLimitMs = 10'000;
constexpr std::chrono::milliseconds kBetweenEnds{20};
constexpr std::chrono::seconds kNothingMore{3};  // so long without a new record, and it has done what it can

std::string text_of_file(const std::string& name) {
  std::ifstream file(name);
  return {std::istreambuf_iterator<char>(file), {}};
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

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

Backlog::Start Backlog::start(const std::string& settings) {
  application_.configure(settings);
  std::filesystem::remove(application_.log());
  const auto begin = Clock::now();
  processes_ = bench::start(resequencer(application_.site()), application_);
  const auto begun = [&] { return text_of_file(application_.log()).find(" takeover=restore ") != std::string::npos; };
  const double first_word_s = seconds_until(begun, processes_, "a restore has begun");
  await_takeover(application_, processes_);
  const double ready_s = seconds_since(begin);
  return {ready_s, ready_s - first_word_s};
}

std::uint64_t Backlog::appended() const {
  std::uint64_t sum = 0;
  for (const auto& end : test::good(admin_->stable_ends(application_.topic("work"), kEndsLimit)))
    sum += static_cast<std::uint64_t>(end.offset.value());
  return sum;
}

Measured Backlog::dispatch() {
  (void)start(in_flight_max(1'000'000'000));
  const Sample begin = sample(taken_, processes_);
  std::uint64_t last = 0;
  Sample end = begin;
  // Nobody says when it was the last one: what is there is counted afterwards.
  while (last < requests_.all().size() || Clock::now() - end.at < kNothingMore) {
    check_interrupted();
    if (Clock::now() - end.at > test::kPatience) throw std::runtime_error("stands still: " + processes_[0]->tail());
    if (const std::uint64_t now = appended(); now != last) {
      last = now;
      end = sample(taken_, processes_);
    }
    std::this_thread::sleep_for(kBetweenEnds);
  }
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
