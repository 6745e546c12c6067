// reseq-simulate: plays simulated worlds and tells the first seed that is wrong.
//   reseq-simulate [--seeds N] [--from S] [--jobs J] [--partitions P] [--guard-off NAME] [--worlds FILE] [--gated]
//            [--journal] [--lanes] [--verbose]
// --worlds: writes what each world was, a line per seed
// --partitions: of every world; else each draws one to four
// --gated: a gate holds some of the requests (tests/gate)
// --journal: requests wait for their turn, and lost work comes back
// --lanes: some targets get every version
// --verbose: one seed, in this order of events, with the log of the resequencer.
// Thread rule: one thread.
#include <charconv>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <spdlog/spdlog.h>
#include <string>
#include <string_view>
#include <sysexits.h>

#include "tests/simulation/world/recorded.h"
#include "tests/simulation/world/seeds.h"
#include "tests/support/guards.h"

namespace {

using reseq::simulation::Profile;
using reseq::simulation::Run;
using reseq::test::kGuards;

int usage() {
  std::cerr << "usage: reseq-simulate [--seeds N] [--from S] [--jobs J] [--partitions P] [--guard-off NAME] "
               "[--worlds FILE] [--gated] [--journal] [--lanes] [--verbose]\nguards:";
  for (const auto& guard : kGuards) std::cerr << ' ' << guard.name;
  std::cerr << '\n';
  return EX_USAGE;
}

std::string_view option_of(Profile profile) {
  if (profile == Profile::kPlain) return "";
  if (profile == Profile::kLanes) return " --lanes";
  if (profile == Profile::kLanesJournal) return " --lanes --journal";
  return profile == Profile::kGated ? " --gated" : " --journal";
}

bool read(std::string_view name, std::string_view text, Run& run) {
  if (name == "--guard-off") {
    for (const auto& guard : kGuards) {
      if (guard.name != text) continue;
      run.guards.*guard.is_on = false;
      return true;
    }
    return false;
  }
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return false;
  if (name == "--seeds") run.seeds = number;
  if (name == "--from") run.from = number;
  if (name == "--jobs") run.jobs = number;
  if (name == "--partitions") run.partitions = static_cast<std::int32_t>(number);
  return name == "--seeds" || name == "--from" || (name == "--jobs" && number >= 1 && number <= 64) ||
         (name == "--partitions" && number >= 1 && number <= 2'000);
}

}  // namespace

int main(int count, char** arguments) {
  Run run;
  run.seeds = 10'000;
  run.jobs = reseq::simulation::jobs();
  run.tell_each = true;
  bool verbose = false;
  std::string worlds;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (name == "--verbose") {
      verbose = true;
    } else if (name == "--gated") {
      run.profile = Profile::kGated;
    } else if (name == "--journal") {
      run.profile = run.profile == Profile::kLanes ? Profile::kLanesJournal : Profile::kJournal;
    } else if (name == "--lanes") {
      run.profile = run.profile == Profile::kJournal ? Profile::kLanesJournal : Profile::kLanes;
    } else if (name == "--worlds" && i + 1 < count) {
      worlds = arguments[++i];
    } else if (i + 1 >= count || !read(name, arguments[++i], run)) {
      return usage();
    }
  }
  spdlog::set_level(verbose ? spdlog::level::debug : spdlog::level::off);
  const auto result = reseq::simulation::play(run);
  for (const auto& [name, number] : result.counters) std::cout << std::setw(12) << number << "  " << name << '\n';
  if (!worlds.empty() && !reseq::simulation::record(result, worlds)) {
    std::cerr << worlds << " cannot be written\n";
    return EX_CANTCREAT;
  }
  if (!result.first) {
    std::cout << run.seeds << " seeds from " << run.from << ": nothing wrong\n";
    return EXIT_SUCCESS;
  }
  std::cout << result.failures << " of " << run.seeds << " seeds are wrong; the first is " << result.first->seed << ": "
            << result.first->what << "\nplay it again: script/simulate --from " << result.first->seed
            << " --seeds 1 --verbose" << option_of(run.profile) << '\n';
  return EXIT_FAILURE;
}
