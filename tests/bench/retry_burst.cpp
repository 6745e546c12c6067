// Requests that come while many retries are due at once: from the broker's acknowledgement until a read_committed
// reader has them on `work`, and the same of the same process when the retries are done. Every other one is urgent.
// Retries are due at once where a process was away: their dates pass while it is.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/clocked_requests.h"
#include "tests/bench/failures.h"

namespace reseq::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLive{5};
constexpr std::uint64_t kLiveMax = 40'000;  // 200 seconds
constexpr std::size_t kCalmMin = 200;
constexpr std::size_t kCalmMax = 4'000;
constexpr std::uint64_t kRetriesMin = 1'000;    // some hundred milliseconds of retries
constexpr std::uint64_t kBackoffMsMin = 3'000;  // half of it is the time in which all of them have to fail
constexpr std::uint64_t kRetriesPerBackoffMs = 2;
constexpr std::uint64_t kInFlightShare = 25;  // of the retries; with 100,000 a partition has the default
constexpr std::uint64_t kInFlightMax = 1'000;
constexpr std::chrono::seconds kSettling{1};
const std::string kBurst = "retries due at once";
const std::string kImmediateBurst = "retries due at once, immediate";
const std::string kUrgentMeanwhile = "urgent";
const std::string kOthersMeanwhile = "default";
const std::string kUrgentCalm = "urgent, calm";
const std::string kOthersCalm = "default, calm";
constexpr std::array kUrgentWishes = {Header{"reseq-priority", "10"}};

class RetryBurst {
 public:
  // Without a journal there are no priorities.
  RetryBurst(const Site& site, std::uint64_t retries, bool journal)
      : retries_(retries),
        journal_(journal),
        name_(journal ? kBurst : kImmediateBurst),
        backoff_(std::max(kBackoffMsMin, retries / kRetriesPerBackoffMs)),
        application_(site, journal ? "burst" : "immediate-burst", Mode::kLife, {.settings = settings()}),
        echo_(start_echo(application_, 0, {.failing = {.every = 1, .below = retries}})),
        decided_(application_, "commands"),
        live_(application_, retries, retries + kLiveMax) {}

  // All of them failed, and their dates are over when it returns; but for those that were tried again before.
  // Tells how many are due.
  void prepare(Report& report) {
    start();
    live_.warm_up(wishes(journal_));
    Requests({.documents = retries_}).send(application_.site().connection(), application_.topic("requests"));
    (void)await(retries_ + kTargetCount, decided_, processes_);
    const auto all_are_due = Clock::now() + backoff_;
    stop(processes_);
    std::filesystem::remove(application_.log());
    const std::uint64_t early = live_.work().repeated();
    if (early > retries_ / 2)
      throw std::runtime_error(std::to_string(early) + " were tried again before all had failed");
    while (Clock::now() < all_are_due) {
      check_interrupted();
      std::this_thread::sleep_for(kBetweenLive);
    }
    const auto due = static_cast<double>(retries_ - early);
    report.series(name_, kOthersMeanwhile, "retries").add(due);
    std::fprintf(stderr, "%s: %.0f\n", name_.c_str(), due);
  }

  void measure(Report& report) {
    start();
    const auto begin = Clock::now();
    const std::size_t first = sent_;
    send_while([this] { return live_.work().repeated() < retries_; });
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    report.series(name_, kOthersMeanwhile, "s in all").add(seconds);
    const std::size_t end = sent_;
    (void)await_all();
    add(report, first, end, kUrgentMeanwhile, kOthersMeanwhile);
    std::this_thread::sleep_for(kSettling);
    const std::size_t calm = sent_;
    send_while([&] { return sent_ < calm + std::clamp(end - first, kCalmMin, kCalmMax); });
    add(report, calm, sent_, kUrgentCalm, kOthersCalm);
  }

  void finish() {
    (void)await_all();
    stop(processes_);
    stop(*echo_);
    const Requests all({.documents = retries_ + sent_});
    check_attempts(application_, all, {.every = 1, .below = retries_});
    check_outputs(application_, all);
  }

 private:
  [[nodiscard]] std::string settings() const {
    const std::string retries = retrying(static_cast<std::uint64_t>(backoff_.count()));
    if (!journal_) return retries;
    const std::uint64_t in_flight = std::clamp(retries_ / kInFlightShare, std::uint64_t{1}, kInFlightMax);
    return kJournal + "dispatch.in_flight_max = " + std::to_string(in_flight) + "\n" + retries;
  }

  void start() {
    processes_ = bench::start(resequencer(application_.site()), application_);
    await_takeover(application_, processes_);
  }

  [[nodiscard]] Sample await_all() {
    return await(retries_ * (1 + kTargetCount) + sent_ * kTargetCount, decided_, processes_);
  }

  [[nodiscard]] bool is_urgent(std::size_t i) const { return journal_ && i % 2 == 0; }
  static std::span<const Header> wishes(bool urgent) {
    return urgent ? std::span<const Header>(kUrgentWishes) : std::span<const Header>();
  }

  void send_while(const std::function<bool()>& goes_on) {
    for (auto due = Clock::now(); goes_on(); ++sent_) {
      check_interrupted();
      if (sent_ == live_.size()) throw std::runtime_error("the retries take too long");
      std::this_thread::sleep_until(due += kBetweenLive);
      live_.send(sent_, wishes(is_urgent(sent_)));
    }
    live_.flush();
  }

  void add(Report& report, std::size_t first, std::size_t end, const std::string& urgent, const std::string& others) {
    std::vector<double> ms_urgent;
    std::vector<double> ms_others;
    for (std::size_t i = first; i < end; ++i) (is_urgent(i) ? ms_urgent : ms_others).push_back(live_.ms(i));
    if ((journal_ && ms_urgent.empty()) || ms_others.empty())
      throw std::runtime_error("the retries were done before anything was measured: give it more");
    if (journal_) add_latencies(report, name_, urgent, ms_urgent);
    add_latencies(report, name_, others, ms_others);
  }

  std::uint64_t retries_;
  bool journal_;
  const std::string& name_;
  std::chrono::milliseconds backoff_;
  Application application_;
  std::unique_ptr<test::Process> echo_;
  Progress decided_;
  ClockedRequests live_;
  Processes processes_;
  std::size_t sent_ = 1;  // the first was to warm up
};

}  // namespace

void measure_retry_burst(const Site& site, std::uint64_t retries, Report& report) {
  for (const bool journal : {true, false}) {
    RetryBurst burst(site, std::max(kRetriesMin, retries), journal);
    burst.prepare(report);
    burst.measure(report);
    burst.finish();
  }
}

void add_burst_metrics(Report& report) {
  const auto add = [&](const std::string& metric, const std::string& burst, const std::string& meanwhile,
                       const std::string& calm) {
    report.add_ratio(metric, report.find(burst, meanwhile, "ms p99"), report.find(burst, calm, "ms p99"), Goal::kAtMost,
                     2);
  };
  add("failures_burst_urgent_p99_to_calm", kBurst, kUrgentMeanwhile, kUrgentCalm);
  add("failures_burst_p99_to_calm", kBurst, kOthersMeanwhile, kOthersCalm);
  add("failures_burst_immediate_p99_to_calm", kImmediateBurst, kOthersMeanwhile, kOthersCalm);
}

}  // namespace reseq::bench
