#include "tests/bench/progress.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/bench/meter.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenSamples{30};
constexpr std::chrono::milliseconds kBetweenTakeoverLooks{20};
constexpr std::chrono::seconds kStandstillLimit{60};
constexpr std::chrono::seconds kNothingMore{3};  // so long without a new one, and that was the last
constexpr std::chrono::seconds kSoLimit{600};
// Longer waits only hide that the answer was held back by an open transaction.
constexpr Milliseconds kQuestionLimit{300};
constexpr int kStopLimitMs = 60'000;
constexpr Milliseconds kEndsLimit{30'000};

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int number) {
  interrupted = 1;
  std::signal(number, SIG_DFL);
}

std::string text_of_file(const std::string& name) {
  std::ifstream file(name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Progress::Progress(const Application& application, const std::string& input)
    : admin_(test::good(kafka::Admin::open(application.site().connection()))),
      group_(application.id()),
      topic_(application.topic(input)) {}

std::uint64_t Progress::done() {
  const auto offsets = admin_->committed(group_, topic_, kQuestionLimit);
  if (!offsets) return last_;
  std::int64_t sum = 0;
  for (const kafka::PlainOffset& one : offsets.value()) sum += std::max<std::int64_t>(0, one.offset.value());
  return last_ = static_cast<std::uint64_t>(sum);
}

void catch_signals() {
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
}

void check_interrupted() {
  if (interrupted != 0) throw std::runtime_error("interrupted");
}

Processes start(const Contestant& contestant, const Application& application) {
  Processes processes;
  for (int instance = 1; instance <= application.instances(); ++instance)
    processes.push_back(
        std::make_unique<test::Process>(contestant.argv(application, instance), application.log(instance)));
  return processes;
}

Sample sample(Progress& progress, const Processes& processes) {
  Sample now;
  now.done = progress.done();
  for (const auto& process : processes) {
    if (!process->running()) throw std::runtime_error("it ended by itself: " + process->tail());
    now.cpu_s += cpu_seconds(process->pid());
  }
  now.machine_cpu_s = machine_cpu_seconds();
  now.at = Clock::now();
  return now;
}

Sample await(std::uint64_t goal, Progress& progress, const Processes& processes) {
  Sample last = sample(progress, processes);
  for (Clock::time_point moved = last.at; last.done < goal;) {
    std::this_thread::sleep_for(kBetweenSamples);
    check_interrupted();
    const Sample now = sample(progress, processes);
    if (now.done != last.done) moved = now.at;
    if (now.at - moved > kStandstillLimit)
      throw std::runtime_error("it stands still at " + std::to_string(now.done) + ": " + processes.front()->tail());
    last = now;
  }
  return last;
}

std::uint64_t appended(kafka::Admin& admin, const std::string& topic) {
  std::uint64_t sum = 0;
  for (const auto& end : test::good(admin.stable_ends(topic, kEndsLimit)))
    sum += static_cast<std::uint64_t>(end.offset.value());
  return sum;
}

void await_last(std::uint64_t goal, const std::function<std::uint64_t()>& count, const std::function<void()>& grew,
                const Processes& processes) {
  std::uint64_t last = 0;
  for (Clock::time_point moved = Clock::now(); last < goal || Clock::now() - moved < kNothingMore;) {
    check_interrupted();
    if (Clock::now() - moved > kStandstillLimit)
      throw std::runtime_error("it stands still at " + std::to_string(last) + ": " + processes.front()->tail());
    if (const std::uint64_t now = count(); now != last) {
      last = now;
      moved = Clock::now();
      grew();
    }
    std::this_thread::sleep_for(kBetweenSamples);
  }
}

std::size_t taken_over(const Application& application, int instance) {
  std::ifstream file(application.log(instance));
  std::set<std::string> partitions;
  for (std::string line; std::getline(file, line);) {
    if (line.find(" group=revoked ") != std::string::npos) partitions.clear();
    const std::size_t at = line.find(" partition=");
    const bool done =
        line.find(" takeover=ready ") != std::string::npos || line.find(" takeover=born ") != std::string::npos;
    if (done && at != std::string::npos) partitions.insert(line.substr(at, line.find(' ', at + 1) - at));
  }
  return partitions.size();
}

double seconds_until(const std::function<bool()>& is_so, const Processes& processes, const std::string& what) {
  const auto begin = Clock::now();
  while (!is_so()) {
    check_interrupted();
    for (const auto& process : processes)
      if (!process->running() || Clock::now() - begin > kSoLimit)
        throw std::runtime_error("not so: " + what + ": " + process->tail());
    std::this_thread::sleep_for(kBetweenTakeoverLooks);
  }
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void await_takeover(const Application& application, const Processes& processes) {
  const auto all = static_cast<std::size_t>(application.partitions());
  (void)seconds_until([&] { return taken_over(application) == all; }, processes,
                      "all " + std::to_string(all) + " partitions run");
}

Start start_again(const Application& application, Processes& processes) {
  std::filesystem::remove(application.log());
  const auto begin = Clock::now();
  processes = start(resequencer(application.site()), application);
  const auto begun = [&] { return text_of_file(application.log()).find(" takeover=restore ") != std::string::npos; };
  const double first_word_s = seconds_until(begun, processes, "a restore has begun");
  await_takeover(application, processes);
  const double ready_s = std::chrono::duration<double>(Clock::now() - begin).count();
  return {ready_s, ready_s - first_word_s};
}

void stop(test::Process& process) {
  process.signal(SIGTERM);
  if (const int code = process.wait(kStopLimitMs); code != 0)
    throw std::runtime_error("exit code " + std::to_string(code) + ": " + process.tail());
}

void stop(const Processes& processes) {
  for (const auto& process : processes) stop(*process);
}

}  // namespace reseq::bench
