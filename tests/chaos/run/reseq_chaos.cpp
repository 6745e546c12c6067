// reseq-chaos: runs an application on real brokers, breaks what can be broken, heals it, and judges what is left
// (docs/testing.md, "Chaos"). Exit code 1: there was a violation, also if the run is void.
// Thread rule: one thread.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <sysexits.h>
#include <unistd.h>

#include "tests/chaos/nemesis/faults.h"
#include "tests/chaos/run/final_acts.h"
#include "tests/chaos/run/run.h"

namespace {

using reseq::chaos::RunOptions;

int list_faults() {
  for (const auto& kind : reseq::chaos::fault_kinds())
    std::cout << kind.name << std::string(20 - kind.name.size(), ' ') << kind.meaning
              << (kind.brokers_min > 1 ? " (needs --brokers 3)" : "") << '\n';
  std::cout << "\nAt the end of a run, when they are named:\n";
  for (const auto& act : reseq::chaos::final_acts())
    std::cout << act.name << std::string(20 - act.name.size(), ' ') << act.meaning << '\n';
  return EX_OK;
}

int play(RunOptions options, bool keep) {
  const bool named = !options.folder.empty();
  if (!named) {
    std::string place = (std::filesystem::temp_directory_path() / "reseq-chaos-XXXXXX").string();
    if (::mkdtemp(place.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + place);
    options.folder = place;
  }
  options.folder = std::filesystem::absolute(options.folder).string();
  std::cout << "chaos: folder=" << options.folder << std::endl;
  const auto report = reseq::chaos::run_chaos(options);
  std::cout << report.details;
  const bool remove = report.violations.empty() && !keep && !named;
  if (remove) std::filesystem::remove_all(options.folder);
  if (!remove) std::cout << "kept: " << options.folder << '\n';
  std::cout << reseq::chaos::void_lines(report);
  std::cout << reseq::chaos::last_line(options, report) << std::endl;
  return report.violations.empty() ? EX_OK : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  RunOptions options;
  bool list = false;
  bool keep = false;
  CLI::App app("Breaks a resequencer on real brokers and judges what is left.", "reseq-chaos");
  app.add_option("--minutes", options.minutes, "how long faults are done")->check(CLI::Range(0.1, 10'000.0));
  app.add_option("--seed", options.seed, "of everything that is drawn");
  app.add_option("--faults", options.faults, "only these, separated by commas")->delimiter(',');
  app.add_option("--failpoints", options.kills_per_failpoint,
                 "instead: every failpoint in turn, until each has killed so often");
  app.add_option("--points", options.points, "of --failpoints: only these, separated by commas")->delimiter(',');
  auto* journal = app.add_flag("--journal", options.journal, "requests wait for their turn (dispatch.mode)");
  app.add_flag("--orders", options.orders,
               "a strict and a total target more, that get every version; with --journal a strict one alone");
  app.add_option("--backlog", options.backlog, "so many requests wait, and nobody works, before anything is disturbed")
      ->needs(journal);
  app.add_option("--brokers", options.brokers, "1 or 3")->check(CLI::IsMember({1, 3}));
  app.add_option("--rate", options.rate, "requests per second")->check(CLI::Range(1, 100'000));
  app.add_option("--dir", options.folder, "folder of everything; kept");
  app.add_flag("--keep", keep, "keep the folder even if nothing is wrong");
  app.add_flag("--list-faults", list, "name and meaning of each fault");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EX_OK : EX_USAGE;
  }
  if (list) return list_faults();
  try {
    return play(options, keep);
  } catch (const std::exception& error) {
    std::cerr << "reseq-chaos: " << error.what() << '\n';
    return EX_UNAVAILABLE;
  }
}
