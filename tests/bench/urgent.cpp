// An urgent request: from the acknowledgement of its broker until a read_committed reader has it on `work`. Over a
// backlog that drains as fast as a pipeline works, in immediate mode beside requests at that rate, and alone.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/backlog.h"
#include "tests/bench/clocked_requests.h"
#include "tests/bench/journal.h"

namespace reseq::bench {

namespace {

constexpr int kBackgroundPerSecond = 5'000;
constexpr std::chrono::milliseconds kBetweenUrgent{10};
constexpr std::uint64_t kUrgentMax = 2'000;
constexpr std::uint64_t kBacklogOfOneUrgent = 200;  // a quarter of a backlog drains meanwhile
constexpr std::uint64_t kBacklogMin = 40'000;       // some seconds of draining
constexpr std::size_t kUncountedShare = 5;          // one in so many comes before what is measured
constexpr std::uint64_t kHeldBytes = std::uint64_t{1} << 40U;
const std::string kUrgent = "urgent";

// Documents from `first` on of some requests, which are urgent.
class UrgentOnes {
 public:
  UrgentOnes(const Application& application, const Requests& requests, std::uint64_t first)
      : ones_(application, first, requests.documents()) {}

  void warm_up(std::span<const Header> wishes) { ones_.warm_up(wishes); }
  // Milliseconds of each that was sent while `counts`.
  std::vector<double> measure(std::span<const Header> wishes, const std::function<bool()>& counts) {
    std::vector<std::size_t> measured;
    auto due = std::chrono::steady_clock::now();
    for (std::size_t i = 1; i < ones_.size(); ++i) {
      std::this_thread::sleep_until(due += kBetweenUrgent);
      if (counts() && i > ones_.size() / kUncountedShare) measured.push_back(i);
      ones_.send(i, wishes);
    }
    ones_.flush();
    std::vector<double> ms;
    for (const std::size_t i : measured) ms.push_back(ones_.ms(i));
    if (ms.empty()) throw std::runtime_error("no urgent request was measured: give it a larger backlog");
    return ms;
  }
  [[nodiscard]] std::size_t seen() const { return ones_.work().count(); }

 private:
  ClockedRequests ones_;
};

constexpr std::array kWishes = {Header{"reseq-priority", "10"}};

// The rest of what waits goes as fast as it can. Every document was let through once and released once.
void finish(const Application& application, const Requests& requests, const Processes& processes, test::Process& echo) {
  echo.signal(SIGUSR1);
  Progress progress(application, "commands");
  (void)await(requests.all().size() * kTargetCount, progress, processes);
  stop(processes);
  stop(echo);
  check_work(application, requests, Completeness::kEveryRequest);
  check_outputs(application, requests);
}

void measure_alone(const Site& site, std::uint64_t urgent, Report& report) {
  const Requests requests({.documents = urgent});
  const Application application(site, "idle", Mode::kLife, {.settings = kJournal});
  const auto echo = start_echo(application);
  const Processes processes = start(resequencer(site), application);
  await_takeover(application, processes);
  UrgentOnes ones(application, requests, 0);
  ones.warm_up(kWishes);
  add_latencies(report, kUrgent, "idle", ones.measure(kWishes, [] { return true; }));
  finish(application, requests, processes, *echo);
}

void measure_beside_requests(const Site& site, std::uint64_t urgent, Report& report) {
  // They come until the last urgent one is seen, and a second more.
  const auto background = static_cast<std::uint64_t>(kBackgroundPerSecond * (static_cast<double>(urgent) * 0.01 + 2));
  const Requests requests({.documents = background + urgent});
  const Application application(site, "immediate", Mode::kLife);
  const auto echo = start_echo(application);
  const Processes processes = start(resequencer(site), application);
  await_takeover(application, processes);
  UrgentOnes ones(application, requests, background);
  ones.warm_up({});
  auto sent = std::async(std::launch::async, [&] {
    requests.send(site.connection(), application.topic("requests"),
                  {.end = background, .per_second = kBackgroundPerSecond});
  });
  add_latencies(report, kUrgent, "immediate", ones.measure({}, [&] { return ones.seen() < background; }));
  sent.get();
  finish(application, requests, processes, *echo);
}

void measure_over_backlog(const Site& site, std::uint64_t documents, std::uint64_t urgent, Report& report) {
  const Requests all({.documents = documents + urgent});
  const Requests waiting({.documents = documents});
  Backlog backlog(site, waiting, kHeldBytes);
  backlog.stop();
  const Application& application = backlog.application();
  (void)backlog.start_draining();
  UrgentOnes ones(application, all, documents);
  const auto echo = start_echo(application, kBackgroundPerSecond);
  ones.warm_up(kWishes);
  add_latencies(report, kUrgent, "journal", ones.measure(kWishes, [&] { return ones.seen() < documents; }));
  report.series(kUrgent, "journal", "still waiting").add(static_cast<double>(all.documents() - ones.seen()));
  finish(application, all, backlog.processes(), *echo);
}

}  // namespace

void measure_urgent(const Site& site, std::uint64_t backlog, Report& report) {
  const std::uint64_t documents = std::max(kBacklogMin, backlog);
  const std::uint64_t urgent = std::min(kUrgentMax, documents / kBacklogOfOneUrgent);
  measure_alone(site, urgent, report);
  measure_over_backlog(site, documents, urgent, report);
  measure_beside_requests(site, urgent, report);
}

}  // namespace reseq::bench
