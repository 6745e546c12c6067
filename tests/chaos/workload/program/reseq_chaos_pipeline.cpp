// reseq-chaos-pipeline: one process of the pipeline of a chaos run. It answers as the plan says, until SIGTERM, through
// any outage of the brokers; it may be killed at any time, and kills itself if that is wanted.
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <random>
#include <string>
#include <sys/time.h>
#include <sysexits.h>
#include <thread>
#include <unistd.h>

#include "base/usage.h"
#include "consumers/stage/kafka_stage.h"
#include "tests/chaos/workload/lag_watch.h"
#include "tests/chaos/workload/program/worker.h"

namespace {

using namespace reseq;  // NOLINT(google-build-using-namespace): the words of this program

constexpr std::chrono::milliseconds kReopenPause{500};

volatile std::sig_atomic_t stop_requested = 0;
void request_stop(int) {
  stop_requested = 1;
}
void crash(int) {
  ::kill(::getpid(), SIGKILL);
}

struct Arguments {
  std::string bootstrap_servers;
  std::string application;
  std::string transactional_instance;
  std::uint64_t seed = 1;
  std::uint64_t in_flight = 20'000;
  double crash_every_s = 0;
  bool commits_on_receipt = false;
};

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--bootstrap-servers", arguments.bootstrap_servers, "host:port of brokers, comma separated")
      ->required();
  app.add_option("--application", arguments.application, "application.id of the resequencers")->required();
  app.add_option("--seed", arguments.seed, "of the plan")->capture_default_str();
  app.add_option("--in-flight", arguments.in_flight, "records read and not answered, at most")->capture_default_str();
  app.add_option("--transactional-instance", arguments.transactional_instance,
                 "answer in transactions, under this name");
  app.add_flag("--commit-on-receipt", arguments.commits_on_receipt, "where work has leases: commit before the work");
  app.add_option("--crash-every", arguments.crash_every_s, "seconds after which it kills itself, on average; 0 = never")
      ->capture_default_str();
}

// Not drawn from the seed: when a process is killed decides nothing that the judge has to know.
void crash_later(double seconds_on_average) {
  if (seconds_on_average <= 0) return;
  std::random_device random;
  const double seconds = seconds_on_average * std::uniform_real_distribution<>(0.2, 1.8)(random);
  std::signal(SIGALRM, crash);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6) + 1;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

Result<> work(const Arguments& arguments) {
  stage::KafkaStageSettings settings;
  settings.connection.bootstrap_servers = arguments.bootstrap_servers;
  settings.connection.client_id = "chaos-pipeline";
  settings.group = chaos::pipeline_group(arguments.application);
  settings.work_topic = arguments.application + ".work";
  settings.commands_topic = arguments.application + ".commands";
  settings.limits.in_flight_max = arguments.in_flight;
  settings.transactional_instance = arguments.transactional_instance;
  if (arguments.commits_on_receipt) settings.limits.commit = stage::CommitWhen::kOnReceipt;
  auto stage = stage::open_kafka_stage(settings);
  if (!stage) return stage.error();
  return chaos::Worker(std::move(stage).value(), arguments.seed).run([] { return stop_requested != 0; });
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("One process of the pipeline of a chaos run", "reseq-chaos-pipeline");
  declare(app, arguments);
  if (const auto code = parse(app, argc, argv)) return *code;
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  crash_later(arguments.crash_every_s);
  while (stop_requested == 0) {
    const Result<> done = work(arguments);
    if (done) break;
    // Brokers are gone, or somebody else is this instance: a new stage begins at what was committed.
    std::fprintf(stderr, "reseq-chaos-pipeline: %s; again\n", done.error().message.c_str());
    std::this_thread::sleep_for(kReopenPause);
  }
  return EX_OK;
}
