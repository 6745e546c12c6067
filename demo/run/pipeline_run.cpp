#include "demo/run/pipeline_run.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "demo/run/completion.h"
#include "demo/run/instance_config.h"
#include "demo/run/launches.h"

namespace reseq::demo {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return list;
}

}  // namespace

PipelineRun::PipelineRun(const Settings& settings, std::string name, std::span<const PlannedAccident> accidents,
                         const volatile std::sig_atomic_t& stop)
    : settings_(settings),
      name_(std::move(name)),
      fleet_(stop),
      accidents_(
          fleet_, [this](std::size_t process) { return pipeline(process); }, processes(), accidents) {}

Launch PipelineRun::pipeline(std::size_t process) const {
  const std::string name = "pipeline-" + std::to_string(process);
  const std::uint64_t workers = settings_.workers / processes();
  std::vector<std::string> arguments = {"--bootstrap-servers",
                                        settings_.bootstrap_servers,
                                        "--work",
                                        settings_.topic("work"),
                                        "--commands",
                                        settings_.topic("commands"),
                                        "--group",
                                        settings_.pipeline_group(),
                                        "--targets",
                                        joined(settings_.targets()),
                                        "--workers",
                                        std::to_string(workers),
                                        "--seed",
                                        std::to_string(settings_.seed),
                                        "--session-timeout-ms",
                                        std::to_string(Settings::kLeaseMs),
                                        "--commit",
                                        settings_.dispatch == "journal" ? "receipt" : "work",
                                        "--work-log",
                                        settings_.in_work(name + ".work"),
                                        "--progress-file",
                                        settings_.in_work(name + ".progress")};
  if (!settings_.dispatch.empty()) {
    const std::uint64_t in_flight = std::max<std::uint64_t>(1, Settings::kUnderWay / (workers * processes()));
    arguments.insert(arguments.end(), {"--in-flight", std::to_string(in_flight)});
  }
  if (settings_.failures) arguments.insert(arguments.end(), {"--search-engine", settings_.engine_file()});
  if (settings_.orders) arguments.insert(arguments.end(), {"--lose-for", joined(settings_.ordered_targets())});
  return launch(settings_, name, "reseq-demo-pipeline", std::move(arguments));
}

// What every wait does: looks after everybody.
Result<> PipelineRun::tick(const std::string& phase) {
  if (Result<> fine = fleet_.check(); !fine) return fine;
  if (accidents_begun_) {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
    if (Result<> happened = accidents_.happen(since); !happened) return happened;
    if (meanwhile_)
      if (Result<> done = meanwhile_(since); !done) return done;
  }
  line_.show(0, 0, name_ + ": " + phase);
  std::this_thread::sleep_for(kTick);
  return Done{};
}

void PipelineRun::begin_accidents(std::function<Result<>(std::chrono::milliseconds)> meanwhile) {
  accidents_begun_ = true;
  begun_ = Clock::now();
  meanwhile_ = std::move(meanwhile);
}

Result<> PipelineRun::wait_until(const std::function<bool()>& ready, const std::string& what) {
  const Clock::time_point until = Clock::now() + kReadyLimit;
  while (!ready()) {
    if (Clock::now() > until)
      return Error{.what_to_do = ErrorClass::kTimeout, .message = "gave up waiting for " + what};
    if (Result<> fine = tick("waiting for " + what); !fine) return fine;
  }
  return Done{};
}

Result<> PipelineRun::start_consumers() {
  Result<std::string> config = write_instance_config(settings_, "init");
  if (!config) return config.error();
  Result<> made = fleet_.run(launch(settings_, "init", "resequencer", {"init", "--config", config.value()}));
  if (!made) return made;
  for (const std::string& target : settings_.targets_with_sinks())
    if (Result<> sink = fleet_.start(sink_launch(settings_, target, true)); !sink) return sink;
  for (std::size_t process = 0; process < processes(); ++process)
    if (Result<> started = fleet_.start(pipeline(process)); !started) return started;
  const auto ready = [&](std::size_t process) {
    const auto seen = pipeline_progress(settings_.in_work("pipeline-" + std::to_string(process) + ".progress"));
    return seen && seen->every_worker_has_partitions();
  };
  return wait_until(
      [&] {
        for (std::size_t process = 0; process < processes(); ++process)
          if (!ready(process)) return false;
        return true;
      },
      "every worker to get partitions");
}

Result<> PipelineRun::start_resequencers() {
  Result<std::vector<Launch>> resequencers = resequencer_launches(settings_);
  if (!resequencers) return resequencers.error();
  for (const Launch& one : resequencers.value())
    if (Result<> started = fleet_.start(one); !started) return started;
  return wait_until([&] { return live_documents().ok(); }, "the resequencers to take over");
}

Result<std::string> PipelineRun::ask(std::vector<std::string> command) const {
  command.insert(command.begin(), settings_.program("resequencer"));
  command.insert(command.end(), {"--config", settings_.in_work("resequencer-init.toml")});
  return output_of(command, Complaints::kNobodys);
}

Result<std::size_t> PipelineRun::live_documents() const {
  Result<std::string> answer = ask({"list", "-o", "json", "--max", "1"});
  if (!answer) return answer.error();
  const auto list = nlohmann::json::parse(answer.value(), nullptr, false);
  if (!list.is_object() || !list.contains("documents") || !list["documents"].is_array())
    return Error{.what_to_do = ErrorClass::kInvalid, .message = "resequencer list answered " + answer.value()};
  return list["documents"].size();
}

SourceProgress PipelineRun::sent(const std::string& name) const {
  return source_progress(settings_.in_work(name + ".progress")).value_or(SourceProgress{});
}

Result<> PipelineRun::follow(const std::function<bool()>& all_sent) {
  Result<Completion> completion = Completion::open(settings_);
  if (!completion) return completion.error();
  Clock::time_point swept{}, moved = Clock::now();
  std::uint64_t read = 0;
  std::string phase = "sending";
  while (true) {
    if (Result<> fine = tick(phase); !fine) return fine;
    if (Clock::now() - swept < kSweepEvery) continue;
    swept = Clock::now();
    const bool ended = all_sent() && accidents_.over();
    Result<Flow> flow = completion.value().sweep();
    if (!flow) return flow.error();
    phase = std::to_string(flow.value().commands_decided) + " results; waiting for " +
            (flow.value().complete ? settings_.orders ? "what is lost" : "leases" : flow.value().waiting_for);
    if (std::exchange(read, flow.value().read) != flow.value().read) moved = Clock::now();
    // Nothing is on its way, but leases may still bring something back, and what is lost is waited for.
    if (ended && flow.value().complete)
      if (const auto live = live_documents(); live && live.value() == 0) return Done{};
    if (Clock::now() - moved > kStallLimit)
      return Error{.what_to_do = ErrorClass::kTimeout, .message = "nothing moves any more; " + phase};
  }
}

void PipelineRun::stop_all() {
  line_.end();
  for (const std::string& name : fleet_.stop_all())
    std::fprintf(stderr, "reseq-demo: %s did not stop when asked and was killed\n", name.c_str());
}

}  // namespace reseq::demo
