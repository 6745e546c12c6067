#include "demo/run/fleet.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace reseq::demo {
namespace {

constexpr std::size_t kLogLinesShown = 15;
constexpr Milliseconds kStopLimit{15'000};
constexpr Milliseconds kKillLimit{5'000};

}  // namespace

Error failure_of(const ChildProcess& process, const Ending& ending) {
  return {.what_to_do = ErrorClass::kFatal,
          .message = process.name() + " ended with " + ending.text() + ". The end of its log (" + process.log_file() +
                     "):\n" + process.last_lines(kLogLinesShown)};
}

Result<ChildProcess*> Fleet::add(const Launch& launch, bool may_end) {
  Result<ChildProcess> process = ChildProcess::start(launch);
  if (!process) return process.error();
  members_.push_back({.process = std::move(process).value(), .may_end = may_end});
  return &members_.back().process;
}

Result<> Fleet::start(const Launch& launch) {
  Result<ChildProcess*> added = add(launch, false);
  return added ? Result<>(Done{}) : Result<>(added.error());
}

Result<ChildProcess*> Fleet::start_job(const Launch& launch) {
  return add(launch, true);
}

void Fleet::tell(const std::string& name, int signal) {
  for (Member& member : members_)
    if (member.process.name() == name) member.process.tell(signal);
}

void Fleet::kill(const std::string& name) {
  tell(name, SIGKILL);
  members_.remove_if(
      [&](Member& member) { return member.process.name() == name && (member.process.wait_or_kill(kKillLimit), true); });
}

Result<> Fleet::run(const Launch& launch) {
  Result<ChildProcess*> job = start_job(launch);
  if (!job) return job.error();
  while (!job.value()->poll()) {
    if (Result<> fine = check(); !fine) return fine;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return check();
}

Result<> Fleet::check() {
  if (stop_ != 0) return Error{.what_to_do = ErrorClass::kAbort, .message = "stopped by a signal"};
  for (Member& member : members_) {
    const std::optional<Ending>& ending = member.process.poll();
    if (ending && !(member.may_end && ending->good())) return failure_of(member.process, *ending);
  }
  return Done{};
}

std::vector<std::string> Fleet::stop_all() {
  for (Member& member : members_) member.process.ask_to_stop();
  std::vector<std::string> killed;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kStopLimit.value());
  for (auto member = members_.rbegin(); member != members_.rend(); ++member) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    const Milliseconds limit(std::max<std::int64_t>(left.count(), 0));
    if (!member->process.wait_or_kill(limit)) killed.push_back(member->process.name());
  }
  members_.clear();
  return killed;
}

}  // namespace reseq::demo
