// reseq-bench: the benchmark on a Kafka that is running. script/bench builds, starts one and calls it.
// Exit code 0: all was measured and every output was right, whatever the targets say. 1: something was wrong.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/usage.h"
#include "tests/bench/metrics.h"
#include "tests/bench/progress.h"

namespace {

using namespace reseq::bench;  // NOLINT(google-build-using-namespace): the words of this program

using Part = std::pair<const char*, void (*)(const Site&, const Sizes&, Report&)>;
constexpr Part kParts[] = {{"micro", measure_micro},
                           {"intake", measure_intake},
                           {"life", measure_life},
                           {"hop", measure_hop},
                           {"skew", measure_skew},
                           {"growth", measure_growth},
                           {"processes", measure_processes},
                           {"asking", measure_asking},
                           {"partitions", measure_partitions},
                           {"sinks", measure_sinks},
                           {"journal", measure_journal},
                           {"failures", measure_failures},
                           {"orders", measure_orders}};

constexpr Sizes kQuick{.rounds = 3,
                       .intake = 300'000,
                       .life = 100'000,
                       .hop_documents = 3'000,
                       .skewed = 300'000,
                       .many_live = 0,
                       .few_partitions = 16,
                       .many_partitions = 64,
                       .most_partitions = 0,
                       .releases = 200'000,
                       .journal = 50'000,
                       .failing = 50'000,
                       .burst = 20'000,
                       .retry_topics = 20'000,
                       .versions = 64'000,
                       .ordered = 100'000,
                       .held = 50'000,
                       .known = 200'000};

constexpr std::uint64_t kSizeMin = 10;
constexpr std::uint64_t Sizes::*kScaled[] = {&Sizes::intake,
                                             &Sizes::life,
                                             &Sizes::hop_warm_up,
                                             &Sizes::hop_documents,
                                             &Sizes::bare_transactions,
                                             &Sizes::skewed,
                                             &Sizes::skewed_ids,
                                             &Sizes::few_live,
                                             &Sizes::many_live,
                                             &Sizes::growth_settling,
                                             &Sizes::growth_updates,
                                             &Sizes::few_partitions,
                                             &Sizes::many_partitions,
                                             &Sizes::most_partitions,
                                             &Sizes::idle_ms,
                                             &Sizes::releases,
                                             &Sizes::journal,
                                             &Sizes::failing,
                                             &Sizes::burst,
                                             &Sizes::retry_topics,
                                             &Sizes::versions,
                                             &Sizes::ordered,
                                             &Sizes::held,
                                             &Sizes::known};

struct Arguments {
  Site site;
  bool quick = false;
  double scale = 1;
  int rounds = 0;
  std::string json_file;
  std::vector<std::string> parts;
};

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--bootstrap-servers", arguments.site.bootstrap_servers, "host:port of brokers, comma separated")
      ->required();
  app.add_option("--folder", arguments.site.folder, "for configurations, logs and state; must exist")->required();
  app.add_option("--streams", arguments.site.streams, "program of the Kafka Streams peer; none: without it");
  app.add_option("--instructions", arguments.site.instructions, "program that counts instructions; none: without them");
  app.add_option("--postgres", arguments.site.postgres,
                 "URL of a database; none: without its sink and without the queue in it");
  app.add_option("--retry-topics", arguments.site.retry_topics,
                 "program of the peer with topics of retries; none: without it");
  app.add_option("--resequencers", arguments.site.resequencers,
                 "program of the peers that resequence in memory; none: without them");
  app.add_option("--opensearch", arguments.site.opensearch, "URL of a node; none: without its sink");
  app.add_flag("--quick", arguments.quick, "small sizes, three rounds, no growth");
  app.add_option("--scale", arguments.scale, "all sizes times this")->check(CLI::Range(0.001, 100.0));
  app.add_option("--rounds", arguments.rounds, "alternating runs of each contestant")->check(CLI::Range(1, 100));
  app.add_option("--json", arguments.json_file, "file for the metrics");
  app.add_option(
         "--part", arguments.parts,
         "only this part, may be repeated: micro, intake, life, hop, skew, growth, processes, asking, partitions, "
         "sinks, journal, failures, orders")
      ->check(CLI::IsMember({"micro", "intake", "life", "hop", "skew", "growth", "processes", "asking", "partitions",
                             "sinks", "journal", "failures", "orders"}));
}

Sizes sizes_of(const Arguments& arguments) {
  Sizes sizes = arguments.quick ? kQuick : Sizes{};
  for (const auto size : kScaled)
    if (sizes.*size > 0)
      sizes.*size = std::max(kSizeMin, static_cast<std::uint64_t>(static_cast<double>(sizes.*size) * arguments.scale));
  if (arguments.rounds > 0) sizes.rounds = arguments.rounds;
  return sizes;
}

void run(const Arguments& arguments) {
  Report report;
  const Sizes sizes = sizes_of(arguments);
  const auto& wanted = arguments.parts;
  if (wanted != std::vector<std::string>{"micro"} && wanted != std::vector<std::string>{"sinks"})
    warm_up(arguments.site, sizes);
  for (const auto& [name, measure] : kParts)
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end())
      measure(arguments.site, sizes, report);
  std::fputs(report.table().c_str(), stdout);
  if (arguments.json_file.empty()) return;
  std::ofstream file(arguments.json_file);
  file << report.json();
  if (!file.flush()) throw std::runtime_error("cannot write " + arguments.json_file);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Measures the resequencer against what else there is", "reseq-bench");
  declare(app, arguments);
  if (const auto code = reseq::parse(app, argc, argv)) return *code;
  catch_signals();
  try {
    run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reseq-bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
