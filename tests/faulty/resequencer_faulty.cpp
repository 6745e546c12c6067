// resequencer-faulty: the resequencer, command line and all, with what no operator may have: it dies or stops at a
// named point, leaves a precaution out, or takes the host for another one. By environment:
//   RESEQ_FAILPOINT=NAME[:COUNT[:kill|stop|sleep|hang]][,...]
//                                             at the COUNT-th pass (1) of that point, SIGKILL or SIGSTOP to itself, or
//                                             the thread that passes it sleeps for 3 s or for ever; of several, each
//                                             counts from the moment at which the one before has happened
//   RESEQ_GUARD_OFF=NAME[,NAME...]            without these guards (resequencer/model/guards.h)
//   RESEQ_MAP_BYTES=N                         first size of the memory map of a copy
//   RESEQ_COMPACT_TIMES_USED=N                a copy whose file, of any size, is more than N times what is used is
//                                             written anew, in steps of 16 KiB
//   RESEQ_BOOT_ID=TEXT                        instead of the kernel's
//   RESEQ_STUCK_AFTER_MS=N                    instead of a minute
//   RESEQ_GATE=WINDOW_MS:EVERY:DRAINED:PARTITIONS:REFERENCE_ABOVE   with the gate of tests/gate
// `resequencer-faulty failpoints` and `resequencer-faulty guards` print the names, one per line.
// Thread rule: points are passed by any thread.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sysexits.h>
#include <thread>
#include <vector>

#include "base/failpoint.h"
#include "cli/command_line.h"
#include "tests/gate/window_gate.h"
#include "tests/support/guards.h"

namespace {

using reseq::Failpoint;
using reseq::runtime::Internals;

constexpr std::chrono::seconds kSleepTime{3};

enum class Action { kKill, kStop, kSleep, kHang };
struct Planned {
  Failpoint point = Failpoint::kCount;
  std::atomic<std::int64_t> passes_left = 0;
  Action action = Action::kKill;
};
std::deque<Planned> all_planned;    // does not change once threads run
std::atomic<std::size_t> next = 0;  // the one that counts

void pass(Failpoint point) {
  const std::size_t mine = next;
  if (mine == all_planned.size()) return;
  Planned& planned = all_planned[mine];
  if (point != planned.point || planned.passes_left.fetch_sub(1) != 1) return;
  next = mine + 1;
  if (planned.action == Action::kSleep || planned.action == Action::kHang) {
    do std::this_thread::sleep_for(kSleepTime);
    while (planned.action == Action::kHang);
  } else {
    // To this thread: one for the process may reach it through another one, while this one goes on for a moment.
    (void)std::raise(planned.action == Action::kStop ? SIGSTOP : SIGKILL);
  }
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool plan_one(std::string_view text) {
  static const std::map<std::string_view, Action> kActions = {
      {"kill", Action::kKill}, {"stop", Action::kStop}, {"sleep", Action::kSleep}, {"hang", Action::kHang}};
  const auto parts = split(text, ':');
  const auto& names = reseq::kFailpointNames;
  const auto found = std::find(names.begin(), names.end(), parts[0]);
  const auto count = parts.size() > 1 ? number(parts[1]) : 1;
  const auto action = kActions.find(parts.size() > 2 ? parts[2] : "kill");
  if (found == names.end() || !count || *count == 0 || action == kActions.end() || parts.size() > 3) return false;
  Planned& planned = all_planned.emplace_back();
  planned.point = static_cast<Failpoint>(found - names.begin());
  planned.passes_left = static_cast<std::int64_t>(*count);
  planned.action = action->second;
  return true;
}

bool plan(std::string_view text) {
  reseq::set_failpoint_hook(pass);
  for (const std::string_view one : split(text, ','))
    if (!plan_one(one)) return false;
  return true;
}

bool stand_gate(std::string_view text, Internals& internals) {
  std::vector<std::uint64_t> numbers;
  for (const std::string_view part : split(text, ':'))
    if (const auto one = number(part); one && *one > 0 && *one < INT32_MAX) numbers.push_back(*one);
  if (numbers.size() != 5 || std::count(text.begin(), text.end(), ':') != 4) return false;
  static std::optional<reseq::gate::WindowGate> gate;
  internals.gate = &gate.emplace(
      reseq::gate::WindowGate::Settings{.window = reseq::Milliseconds(static_cast<std::int64_t>(numbers[0])),
                                        .every = static_cast<std::int64_t>(numbers[1]),
                                        .drained_max = static_cast<std::uint32_t>(numbers[2]),
                                        .partitions = static_cast<std::int32_t>(numbers[3]),
                                        .reference_above = numbers[4]});
  return true;
}

bool leave_out(std::string_view text, reseq::Guards& guards) {
  for (const std::string_view name : split(text, ',')) {
    const auto& all = reseq::test::kGuards;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& guard) { return guard.name == name; });
    if (found == all.end()) return false;
    guards.*found->is_on = false;
  }
  return true;
}

// The name of the variable that cannot be read; none: all can.
const char* read_environment(Internals& internals) {
  if (const char* text = std::getenv("RESEQ_FAILPOINT"); text != nullptr && !plan(text)) return "RESEQ_FAILPOINT";
  if (const char* text = std::getenv("RESEQ_GUARD_OFF"); text != nullptr && !leave_out(text, internals.guards))
    return "RESEQ_GUARD_OFF";
  if (const char* text = std::getenv("RESEQ_BOOT_ID"); text != nullptr) internals.boot_id = text;
  if (const char* text = std::getenv("RESEQ_MAP_BYTES"); text != nullptr) {
    const auto bytes = number(text);
    if (!bytes || *bytes == 0) return "RESEQ_MAP_BYTES";
    internals.disk.map_bytes = *bytes;
  }
  if (const char* text = std::getenv("RESEQ_COMPACT_TIMES_USED"); text != nullptr) {
    const auto times = number(text);
    if (!times || *times == 0) return "RESEQ_COMPACT_TIMES_USED";
    internals.disk.compaction = {.file_bytes_min = 1, .times_used = *times, .step_bytes = std::uint64_t{16} << 10};
  }
  if (const char* text = std::getenv("RESEQ_STUCK_AFTER_MS"); text != nullptr) {
    const auto ms = number(text);
    if (!ms || *ms == 0) return "RESEQ_STUCK_AFTER_MS";
    internals.stuck_after = reseq::Milliseconds(static_cast<std::int64_t>(*ms));
  }
  if (const char* text = std::getenv("RESEQ_GATE"); text != nullptr && !stand_gate(text, internals))
    return "RESEQ_GATE";
  return nullptr;
}

template <typename Names>
int print(const Names& names) {
  for (const std::string_view name : names) std::printf("%.*s\n", static_cast<int>(name.size()), name.data());
  return EX_OK;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wish = argc == 2 ? argv[1] : "";
  if (wish == "failpoints") return print(reseq::kFailpointNames);
  if (wish == "guards") {
    std::vector<std::string_view> names;
    for (const auto& guard : reseq::test::kGuards) names.push_back(guard.name);
    return print(names);
  }
  Internals internals;
  if (const char* wrong = read_environment(internals)) {
    std::fprintf(stderr, "resequencer-faulty: %s cannot be read: %s\n", wrong, std::getenv(wrong));
    return EX_USAGE;
  }
  return reseq::cli::run_command_line(argc, argv, internals);
}
