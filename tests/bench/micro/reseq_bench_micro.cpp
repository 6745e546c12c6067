// reseq-bench-micro: what each step of a record's way costs, measured alone.
//   reseq-bench-micro [--known N] [--batch N] [--step NAME]... [google-benchmark's options]
//   valgrind --tool=callgrind --instr-atstart=no ... reseq-bench-micro --count [--step NAME]...
// Time is that of the thread's CPU. With --count each step is run once between callgrind's instructions to start, to
// stop and to write what it counted under the name of the step (script/instructions).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <valgrind/callgrind.h>

#include "tests/bench/micro/step.h"

namespace {

using reseq::bench::NamedStep;
using reseq::bench::Size;
using reseq::bench::Step;

void measure(const NamedStep& named, const Size& size) {
  benchmark::RegisterBenchmark(std::string(named.name).c_str(),
                               [named, size](benchmark::State& state) {
                                 const std::unique_ptr<Step> step = named.make(size);
                                 for (auto unused : state) {
                                   (void)unused;
                                   state.SetIterationTime(reseq::bench::cpu_ns_each(*step) * 1e-9);
                                 }
                               })
      ->UseManualTime()
      ->Unit(benchmark::kNanosecond)
      ->Iterations(20);
}

void count(const NamedStep& named, const Size& size) {
  const std::unique_ptr<Step> step = named.make(size);
  // The first run fills what is kept between batches.
  step->prepare();
  step->run();
  step->prepare();
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  step->run();
  CALLGRIND_STOP_INSTRUMENTATION;
  const std::string reason(named.name);
  CALLGRIND_DUMP_STATS_AT(reason.c_str());
  std::printf("%s %llu\n", reason.c_str(), static_cast<unsigned long long>(step->records()));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"What each step of a record's way costs, measured alone"};
  Size size{100'000, 5'000};
  std::vector<std::string> wanted;
  bool counts = false;
  app.add_option("--known", size.known, "documents of the state")->check(CLI::Range(1'000'000'000));
  app.add_option("--batch", size.batch, "records of a batch")->check(CLI::Range(1'000'000));
  app.add_option("--step", wanted, "only these");
  app.add_flag("--count", counts, "under callgrind: count instructions");
  app.allow_extras();
  CLI11_PARSE(app, argc, argv);

  std::vector<NamedStep> steps = reseq::bench::all_steps();
  std::erase_if(steps, [&](const NamedStep& step) {
    return !wanted.empty() && std::find(wanted.begin(), wanted.end(), step.name) == wanted.end();
  });
  if (counts) {
    for (const NamedStep& step : steps) count(step, size);
    return 0;
  }
  for (const NamedStep& step : steps) measure(step, size);
  std::vector<std::string> rest = app.remaining();
  std::vector<char*> arguments = {argv[0]};
  for (std::string& argument : rest) arguments.push_back(argument.data());
  int left = static_cast<int>(arguments.size());
  benchmark::Initialize(&left, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(left, arguments.data())) return 64;  // EX_USAGE
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
