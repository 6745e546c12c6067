// reseq-demo: starts everything on a Kafka that runs already, waits until all has arrived, compares both targets with
// the commit and says what came out. Exit code 0 only if both are right. A login comes from the environment alone
// (RESEQ_KAFKA_<PROPERTY>), where everything that it starts finds it.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sysexits.h>
#include <vector>

#include "base/usage.h"
#include "demo/run/demo.h"
#include "demo/run/failure_numbers.h"
#include "demo/run/failures_run.h"
#include "demo/run/journal_numbers.h"
#include "demo/run/journal_run.h"
#include "demo/run/numbers.h"
#include "demo/run/order_numbers.h"
#include "demo/run/orders_run.h"
#include "demo/run/search_hint.h"
#include "demo/run/settings.h"
#include "kafka/connection_arguments.h"

namespace {

using namespace reseq;  // NOLINT(google-build-using-namespace): the words of this program
namespace fs = std::filesystem;

constexpr int kNotEqual = 1;

volatile std::sig_atomic_t stop_requested = 0;
void request_stop(int) {
  stop_requested = 1;
}

struct Arguments {
  demo::Settings settings;
  bool journal = false;
  bool failures = false;
  bool orders = false;
};

void declare(CLI::App& app, Arguments& arguments) {
  demo::Settings& settings = arguments.settings;
  app.add_option("--repo", settings.repository, "git repository, bare or not")->required();
  app.add_option("--revision", settings.revision, "the last commit")->capture_default_str();
  app.add_option("--bootstrap-servers", settings.bootstrap_servers, "host:port of brokers, comma separated")
      ->envname("RESEQ_BOOTSTRAP_SERVERS")
      ->required();
  app.add_option("--application-id", settings.application_id, "prefix of topics and groups, new for each run")
      ->required();
  app.add_option("--work-folder", settings.work_folder, "for configuration files and logs")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--out", settings.out_folder,
                 "keeps search.db, catalogue/ and report.json there; older ones are replaced");
  app.add_option("--programs", settings.programs, "folder of the programs (default: that of this one)");
  app.add_option("--workers", settings.workers, "consumers of the pipeline")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--seed", settings.seed, "of delays, retries and duplicates")->capture_default_str();
  app.add_option("--processes", settings.processes, "resequencers")->check(CLI::Range(1, 4))->capture_default_str();
  app.add_option("--intake", settings.intake, "inline: the resequencer forwards requests; tap: the pipeline reads them")
      ->check(CLI::IsMember({"inline", "tap"}))
      ->capture_default_str();
  app.add_option("--sink", settings.sink, "what the target search is written into")
      ->check(CLI::IsMember({"sqlite", "opensearch", "postgres"}))
      ->capture_default_str();
  app.add_option("--search-url", settings.search_url, "of the server, with --sink opensearch or postgres; no password");
  app.add_option("--rate", settings.requests_per_second, "requests per second")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_flag("--journal", arguments.journal,
               "plays a backfill and live edits with dispatch.mode = journal and with immediate instead");
  app.add_flag("--failures", arguments.failures, "lets some of the work fail instead: failures.mode = retry")
      ->excludes("--journal");
  app.add_flag("--orders", arguments.orders, "plays it for a strict and a total target beside search instead")
      ->excludes("--journal")
      ->excludes("--failures");
  app.add_flag("--require-scramble", settings.require_scramble,
               "fail when a target without the resequencer is right too");
  app.add_flag("--delete-topics", settings.delete_topics, "delete the topics of the application at the end");
}

void watch_signals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

// What another run has left would be refused by the sinks: its positions belong to other topics.
void remove_older_results(const demo::Settings& settings) {
  for (const char* name : {"search.db", "search.db-wal", "search.db-shm", "report.json"})
    fs::remove(fs::path(settings.result_folder()) / name);
  // Only what a sink has made; somebody's own folder of that name stays.
  const fs::path catalogue = settings.checked_directory();
  if (!fs::exists(catalogue / "index.db")) return;
  for (const char* name : {"documents", "failed", "incoming", "index.db", "index.db-wal", "index.db-shm"})
    fs::remove_all(catalogue / name);
}

std::string verdict(const std::string& commit) {
  return "Both targets equal commit " + commit.substr(0, 12) + ", blob by blob";
}
template <typename Numbers>
std::string verdict(const Numbers& numbers) {
  return verdict(numbers.commit) + ".";
}
std::string verdict(const demo::FailureNumbers& numbers) {
  return verdict(numbers.commit) + ", but for what is failed, and nothing else is a dead letter.";
}

std::string verdict(const demo::OrderNumbers& numbers) {
  return "audit and history have every change of the history, but for what was lost and is told, each in its order.\n"
         "search equals commit " +
         numbers.commit.substr(0, 12) + ", blob by blob.";
}

template <typename Numbers>
int report(const demo::Settings& settings, const Numbers& numbers, const std::vector<std::string>& failures) {
  std::ofstream(fs::path(settings.result_folder()) / "report.json", std::ios::trunc)
      << demo::report_json(numbers, failures);
  std::fputs(demo::table_text(numbers).c_str(), stdout);
  for (const std::string& failure : failures) std::fprintf(stdout, "FAILED: %s\n", failure.c_str());
  if (!failures.empty()) return kNotEqual;
  std::fprintf(stdout, "\n%s\n", verdict(numbers).c_str());
  return EX_OK;
}

int refuse(const Error& error) {
  std::fprintf(stderr, "reseq-demo: %s\n", error.message.c_str());
  return EX_SOFTWARE;
}

int run(const demo::Settings& settings) {
  remove_older_results(settings);
  const Result<demo::Numbers> numbers = demo::run_demo(settings, stop_requested);
  if (!numbers) return refuse(numbers.error());
  const int code = report(settings, numbers.value(), demo::failures(numbers.value(), settings.require_scramble));
  if (code == EX_OK) std::fprintf(stdout, "\n%s", demo::next_steps(settings).c_str());
  return code;
}

int run_journal(const demo::Settings& settings) {
  remove_older_results(settings);
  for (const char* dispatch : {"journal", "immediate"}) {
    demo::Settings own = settings;
    own.out_folder = settings.result_folder() + "/" + dispatch;
    remove_older_results(own);
  }
  const Result<demo::JournalNumbers> numbers = demo::run_journal_demo(settings, stop_requested);
  if (!numbers) return refuse(numbers.error());
  return report(settings, numbers.value(), demo::failures(numbers.value()));
}

int run_failures(const demo::Settings& settings) {
  remove_older_results(settings);
  const Result<demo::FailureNumbers> numbers = demo::run_failures_demo(settings, stop_requested);
  if (!numbers) return refuse(numbers.error());
  return report(settings, numbers.value(), demo::failures(numbers.value()));
}

int run_orders(const demo::Settings& settings) {
  remove_older_results(settings);
  const Result<demo::OrderNumbers> numbers = demo::run_orders_demo(settings, stop_requested);
  if (!numbers) return refuse(numbers.error());
  return report(settings, numbers.value(), demo::failures(numbers.value(), settings.require_scramble));
}

// Which options do not go together; empty: all do.
std::string refused(const Arguments& arguments) {
  if (!arguments.settings.tap()) return {};
  if (arguments.journal || arguments.failures)
    return "with intake tap nothing waits: --journal and --failures need intake inline";
  if (arguments.orders)
    return "with intake tap a result could come before its request is seen: --orders needs intake inline";
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  demo::Settings& settings = arguments.settings;
  settings.programs = fs::read_symlink("/proc/self/exe").parent_path();
  CLI::App app("Runs the resequencer on a git history and proves the result", "reseq-demo");
  declare(app, arguments);
  if (const auto code = parse(app, argc, argv)) return *code;
  const auto login = kafka::read_properties({});
  if (!login) {
    std::fprintf(stderr, "reseq-demo: %s\n", login.error().message.c_str());
    return EX_CONFIG;
  }
  settings.librdkafka = login.value();
  watch_signals();
  if (const std::string why = refused(arguments); !why.empty()) {
    std::fprintf(stderr, "reseq-demo: %s\n", why.c_str());
    return EX_USAGE;
  }
  if (arguments.orders) return run_orders(settings);
  if (arguments.failures) return run_failures(settings);
  return arguments.journal ? run_journal(settings) : run(settings);
}
