// Faults of processes: they die, at random moments and at named points, freeze, have a double, get company, or are all
// away.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/chaos/nemesis/faults.h"

namespace reseq::chaos {

namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kDoubleMustEndWithin{45};  // from when both are at work, other faults beside them
// What is on its way is done by then.
constexpr std::chrono::seconds kLull{3};
constexpr int kUnavailableExit = 69;  // EX_UNAVAILABLE

Harm kill(Scene& scene) {
  const bool of_pipeline = scene.draw.chance(250);
  const auto all = scene.crew.all(of_pipeline ? Job::kPipeline : Job::kResequencer);
  if (all.empty()) return nothing("nobody is there");
  Supervised& process = *all[scene.draw.below(all.size())]->process;
  if (!process.kill()) return nothing(process.name() + " does not run");
  return {.what = process.name(), .over = [] { return true; }};
}

Harm stop(Scene& scene) {
  Supervised& process = *any_resequencer(scene).process;
  if (!process.terminate()) return nothing(process.name() + " does not run");
  return {.what = process.name(), .over = [] { return true; }};
}

// In the middle of its work, or when there was nothing to do for a while: then it sleeps without a transaction, and
// wakes up when others have long had its partitions and traffic comes back.
Harm pause(Scene& scene) {
  Supervised& process = *any_resequencer(scene).process;
  const bool idle = scene.draw.chance(400);
  const std::vector<Words> excused = {{process.name() + ": ", kLibraryError}, kLeaderLost};
  if (!idle) {
    if (!process.pause()) return nothing(process.name() + " does not run");
    return {.what = process.name(), .heal = [&process] { process.resume(); }, .excused = excused};
  }
  const auto rest = scene.rest;
  const auto asleep = std::make_shared<bool>(false);
  const auto begun = Clock::now();
  rest(true);
  return {.what = process.name() + ", idle",
          .heal =
              [&process, rest] {
                process.resume();
                rest(false);
              },
          .step =
              [&process, asleep, begun] {
                if (*asleep || Clock::now() - begun < kLull) return;
                *asleep = process.pause();
              },
          .excused = excused,
          .acted = [asleep] { return *asleep; }};
}

Harm failpoint(Scene& scene) {
  Member& guest = *scene.crew.all(Job::kGuest).front();
  auto point = scene.failpoints.next();
  if (!point) return nothing("no point is wanted");
  Member& member = any_resequencer(scene);
  const HuntMeans means{scene.chronicle, guest, scene.cluster.proxy(),
                        scene.site.transactional_ids(member.process->name()), scene.crew.owned()};
  const Failpoints& points = scene.failpoints;
  const std::uint64_t before = points.deaths();
  auto hunt = std::make_shared<Hunt>(scene.failpoints, *std::move(point), member, means, scene.draw);
  return {.what = hunt->what(),
          .heal = [hunt] { hunt->give_up(); },
          .step = [hunt] { hunt->step(); },
          .over = [hunt] { return hunt->over(); },
          .acted = [&points, before] { return points.deaths() > before; }};
}

Harm outage(Scene& scene) {
  const auto all = scene.crew.all(Job::kResequencer);
  const bool in_order = scene.draw.chance(300);
  bool any = false;
  for (Member* member : all) {
    member->process->hold();
    any = (in_order ? member->process->terminate() : member->process->kill()) || any;
  }
  return {.what = in_order ? "stopped" : "killed",
          .heal =
              [all] {
                for (Member* member : all) member->process->release();
              },
          .acted = [any] { return any; }};
}

Harm rebalance_storm(Scene& scene) {
  const auto guests = scene.crew.all(Job::kGuest);
  auto next = std::make_shared<Clock::time_point>(Clock::now());
  auto turn = std::make_shared<std::size_t>(0);
  auto in = std::make_shared<std::vector<bool>>(guests.size(), false);
  const auto leave = [guests, in](std::size_t i) {
    if (!(*in)[i]) return;
    (*in)[i] = false;
    guests[i]->process->hold();
    guests[i]->process->terminate();
  };
  return {.what = std::to_string(guests.size()) + " guests come and go",
          .heal =
              [guests, leave] {
                for (std::size_t i = 0; i < guests.size(); ++i) leave(i);
              },
          .step =
              [guests, leave, next, turn, in] {
                if (Clock::now() < *next) return;
                *next = Clock::now() + milliseconds(1'500);
                const std::size_t i = (*turn)++ % guests.size();
                if ((*in)[i]) return leave(i);
                (*in)[i] = true;
                guests[i]->process->release();
              },
          .acted = [turn] { return *turn > 0; }};
}

struct Twin {
  Member member;
  int ended_as_told = 0;
  bool both_ran = false;
};

// It is no member of the crew: it is not started again. What it says and how it ends is judged as theirs.
std::shared_ptr<Twin> start_twin(Scene& scene, const std::string& name, bool same_folder, int told) {
  auto twin = std::make_shared<Twin>();
  twin->member.process = std::make_unique<Supervised>(
      scene.site.resequencer(name, name + "-double", same_folder ? "state" : "state-of-double"),
      [twin_ptr = twin.get(), &crew = scene.crew, &chronicle = scene.chronicle, told](const End& end) {
        crew.read_log(twin_ptr->member);
        const std::string line = "end name=" + end.name + " code=" + std::to_string(end.code);
        if (end.code == told) ++twin_ptr->ended_as_told;
        if (end.code == told || end.killed) return chronicle.note(line);
        chronicle.complain(line);
      });
  const std::string& log = twin->member.process->log_file();
  twin->member.log_read = std::filesystem::exists(log) ? std::filesystem::file_size(log) : 0;  // of those before it
  twin->member.process->step();
  twin->member.process->hold();
  return twin;
}

// A second process of the same name. With a state folder of its own it has the same transactional id and the same place
// in the group: of the two the one that came last goes on, the other one ends with EX_CONFIG. With the same folder the
// one that comes second ends with EX_UNAVAILABLE and disturbs nobody; that is the original when something killed it
// meanwhile. And that is all: nobody starts the one that has ended again before an operator has looked.
Harm duplicate(Scene& scene) {
  Member& original = any_resequencer(scene);
  const std::string name = original.process->name();
  const bool same_folder = scene.draw.chance(250);
  const int told = same_folder ? kUnavailableExit : kConfigurationExit;
  Chronicle& chronicle = scene.chronicle;
  original.process->hold();
  const int before = original.ends_with[told];
  const auto twin = start_twin(scene, name, same_folder, told);
  const auto ended = [twin, &original, before, told] {
    return twin->ended_as_told + original.ends_with[told] - before > 0;
  };
  // Killed by another fault, it cannot end by itself any more.
  const auto both_run = [twin, &original] { return twin->member.process->running() && original.process->running(); };
  std::vector<Words> excused = {{"end name=" + name + " code=" + std::to_string(told)}};
  if (!same_folder)  // each fences the producer and the consumer of the other
    for (const std::string& one : {name, name + "-double"})
      for (const char* words : {"fenced", "old epoch"}) excused.push_back({one + ": ", kLibraryError, words});
  return {.what = name + (same_folder ? " with the same folder" : " with another folder"),
          .heal =
              [twin, &original, &chronicle, ended, both_run, name] {
                const auto met_at = std::max(original.ready_at, twin->member.ready_at);  // none is before any
                const bool met = original.ready_at && twin->member.ready_at;
                if (!ended() && both_run() && met && Clock::now() - *met_at > kDoubleMustEndWithin)
                  chronicle.violation("of two processes with the name " + name + " none has ended");
                twin->member.process->kill();
                original.process->release();
              },
          .step =
              [twin, &crew = scene.crew, both_run] {
                twin->member.process->step();
                crew.read_log(twin->member);
                twin->both_ran = twin->both_ran || both_run();
              },
          .over = [ended] { return ended(); },
          .excused = std::move(excused),
          .acted = [twin, ended] { return twin->both_ran || ended(); }};
}

FaultKind kind(std::string_view name, std::string_view meaning, int shortest_ms, int longest_ms, unsigned weight,
               Harm (*begin)(Scene&)) {
  return {.name = name,
          .meaning = meaning,
          .shortest = milliseconds(shortest_ms),
          .longest = milliseconds(longest_ms),
          .weight = weight,
          .begin = begin};
}

}  // namespace

std::vector<FaultKind> process_faults() {
  return {
      kind("kill", "kill -9 of a resequencer or a process of the pipeline", 0, 0, 6, kill),
      kind("stop", "SIGTERM of a resequencer, which is started again", 0, 0, 1, stop),
      kind("failpoint", "a resequencer dies at the next of the named failpoints", 26'000, 26'000, 3, failpoint),
      kind("pause", "SIGSTOP of a busy or idle resequencer, past its session and mostly its transaction, then SIGCONT",
           6'500, 18'000, 2, pause),
      kind("duplicate", "a second process with the same instance.id: one of the two ends with exit code 78", 55'000,
           55'000, 1, duplicate),
      kind("rebalance_storm", "two more resequencers join and leave the group", 8'000, 16'000, 1, rebalance_storm),
      kind("outage", "no resequencer runs for a while, and timers become due", 3'000, 18'000, 1, outage),
  };
}

}  // namespace reseq::chaos
