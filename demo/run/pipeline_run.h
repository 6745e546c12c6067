// PipelineRun: what runs have in common whose pipeline consists of several processes, some of which meet accidents: it
// starts everybody, looks after them while somebody waits, and knows when all has arrived.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "demo/run/accidents.h"
#include "demo/run/fleet.h"
#include "demo/run/progress_files.h"
#include "demo/run/progress_line.h"
#include "demo/run/settings.h"

namespace reseq::demo {

class PipelineRun {
 public:
  using Clock = std::chrono::steady_clock;

  // `name` begins each phase that is shown.
  PipelineRun(const Settings& settings, std::string name, std::span<const PlannedAccident> accidents,
              const volatile std::sig_atomic_t& stop);

  // Topics, sinks and the pipeline, until every worker has partitions.
  Result<> start_consumers();
  Result<> start_resequencers();
  // A job that sends a part of the history.
  Result<ChildProcess*> send(const Launch& source) { return fleet_.start_job(source); }
  // From now on accidents happen. `meanwhile` is called at each look, with the time since now.
  void begin_accidents(std::function<Result<>(std::chrono::milliseconds)> meanwhile = {});
  // Until `ready`, while everybody is looked after.
  Result<> wait_until(const std::function<bool()>& ready, const std::string& what);
  // Until all has arrived, and nothing comes back any more. `all_sent`: the sources have ended.
  Result<> follow(const std::function<bool()>& all_sent);
  void stop_all();

  // What a command of the resequencer prints; the configuration is added.
  [[nodiscard]] Result<std::string> ask(std::vector<std::string> command) const;
  [[nodiscard]] SourceProgress sent(const std::string& name) const;
  [[nodiscard]] const Accidents& accidents() const { return accidents_; }
  [[nodiscard]] std::size_t processes() const { return std::min<std::size_t>(kProcesses, settings_.workers); }

 private:
  static constexpr std::uint64_t kProcesses = 4;  // of the pipeline
  static constexpr std::chrono::milliseconds kTick{100};
  static constexpr std::chrono::milliseconds kSweepEvery{500};
  static constexpr std::chrono::seconds kReadyLimit{120};
  static constexpr std::chrono::seconds kStallLimit{120};

  [[nodiscard]] Launch pipeline(std::size_t process) const;
  Result<> tick(const std::string& phase);
  // Documents that wait, or are under way. None: nobody answers.
  [[nodiscard]] Result<std::size_t> live_documents() const;

  const Settings& settings_;
  std::string name_;
  Fleet fleet_;
  Accidents accidents_;
  ProgressLine line_;
  bool accidents_begun_ = false;
  Clock::time_point begun_;
  std::function<Result<>(std::chrono::milliseconds)> meanwhile_;
};

}  // namespace reseq::demo
