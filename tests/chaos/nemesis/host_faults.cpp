// Faults of the host of a process: its disk, its clock, and what lies in its state folder.
#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/chaos/nemesis/faults.h"
#include "tests/chaos/nemesis/state_damage.h"

namespace reseq::chaos {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// What a process did is in its log, and was read there.
constexpr seconds kToldWithin{2};
// A process reads the wall clock and the one that never steps one after the other, and may have to wait for its core in
// between: it sees a step that is a little larger or smaller than what is done. Up to this it surely believes one.
constexpr seconds kSurelyBelieved = kClockJumpMax - seconds(5);

// The process goes on without checkpoints, for as long as its memory lasts, and says so; one that starts now cannot
// write its lock and is refused.
Harm disk_full(Scene& scene) {
  struct Trouble {
    int error;
    const char* name;
  };
  static constexpr std::array<Trouble, 3> kTroubles = {{{ENOSPC, "ENOSPC"}, {EDQUOT, "EDQUOT"}, {EIO, "EIO"}}};
  const Trouble trouble = kTroubles[scene.draw.below(kTroubles.size())];
  Member& member = any_resequencer(scene);
  const std::uint64_t before = member.host->disk_refusals();
  member.host->break_disk(trouble.error);
  Chronicle& chronicle = scene.chronicle;
  const std::string name = member.process->name();
  const std::string what = name + " " + trouble.name;
  return {.what = what,
          .heal =
              [&member, &chronicle, what, before] {
                member.host->break_disk(0);
                chronicle.note("disk refused=" + std::to_string(member.host->disk_refusals() - before) + " " + what);
              },
          .excused = {{name + ": ", " checkpoint=failed "},
                      {name + ": ", " sync=failed "},
                      {"end name=" + name + " code=69"}},
          .acted = [&member, before] { return member.host->disk_refusals() > before; }};
}

// The first size of the map is that of a few pages: it has to grow again and again.
Harm map_full(Scene& scene) {
  Supervised& process = *any_resequencer(scene).process;
  const std::uint64_t bytes = std::uint64_t{64 * 1024} << scene.draw.below(4);
  process.arm({}, {"RESEQ_MAP_BYTES=" + std::to_string(bytes)});
  process.kill();
  return {.what = process.name() + " map_bytes=" + std::to_string(bytes), .over = [] { return true; }};
}

// The start of a process that knows the time of its host. None: one that is just starting may not have looked yet.
std::optional<int> informed_start(const Member& member) {
  return member.ready_at ? std::optional(member.process->starts()) : std::nullopt;
}

// The time of a host is put right. A process that was started with one far behind must not believe the right one, which
// it sees as a step forward: whoever corrects a clock by so much restarts it. `informed`: the start of the one that
// knew the time before it was made wrong.
void put_clock_right(Member& member, std::optional<int> informed) {
  const bool far_behind = -member.host->clock_shift() > kSurelyBelieved;
  if (far_behind && informed != member.process->starts()) member.process->kill();
  member.host->shift_clock(seconds(0));
}

// A process that starts takes the time of its host as confirmed, and the versions that it gives are never taken back:
// a wrong time at a start is refused by no program. So a host that is ahead is put right before its process starts.
Harm clock_step(Scene& scene) {
  static constexpr std::array<seconds, 8> kSteps = {seconds(2),      seconds(45),         seconds(3'600),
                                                    seconds(30'000), seconds(31'536'000), seconds(315'360'000),
                                                    seconds(90'000), seconds(600)};
  Member& member = any_resequencer(scene);
  const bool back = scene.draw.chance(500);
  const seconds step = kSteps[scene.draw.below(kSteps.size())] * (back ? -1 : 1);
  const seconds seen = step - member.host->clock_shift();  // it may be slow already
  const std::optional<int> informed = informed_start(member);
  member.host->shift_clock(step);
  const std::string name = member.process->name();
  std::vector<Words> excused;
  // A process that starts meanwhile takes a time that is behind for right, and sees it step when it is put right.
  if (seen > kSurelyBelieved || -step > kSurelyBelieved) excused.push_back({name + ": ", " clock=stepped forward"});
  return {.what = name + " by " + std::to_string(step.count()) + " s",
          .heal = [&member, informed] { put_clock_right(member, informed); },
          .excused = std::move(excused)};
}

// The others die or stop, so that a host whose clock is behind has to take over. By seconds: it does. By hours: it must
// not, versions are further ahead of its clock than max_clock_drift_ms; that the partitions wait is right then.
Harm slow_host(Scene& scene) {
  // What its predecessors gave may be ahead of the right time by a step that they believed. And it has to believe the
  // right time when its clock is put right while it runs.
  constexpr seconds kNear = std::min(kClockDriftMax - kClockJumpMax, kSurelyBelieved);
  Member& slow = any_resequencer(scene);
  const bool far = scene.draw.chance(500);
  // Who gives birth to a partition cannot know better.
  if (scene.crew.owned().size() < static_cast<std::size_t>(scene.site.settings().partitions))
    return nothing("not every partition is born");
  const seconds behind = far ? seconds(3'600) * (1 + static_cast<std::int64_t>(scene.draw.below(48)))
                             : seconds(1 + static_cast<std::int64_t>(scene.draw.below(kNear.count())));
  const std::optional<int> informed = informed_start(slow);
  slow.host->shift_clock(-behind);
  const bool in_order = scene.draw.chance(700);  // nothing that they had open has to be waited for
  std::vector<Member*> others;
  for (Member* member : scene.crew.all(Job::kResequencer))
    if (member != &slow) others.push_back(member);
  for (Member* member : others) {
    member->process->hold();
    (void)(in_order ? member->process->terminate() : member->process->kill());
  }
  struct Seen {
    std::optional<std::uint64_t> takeovers = {};  // before, with all that it did with the right time
    std::uint64_t clock_waits = 0;
  };
  auto seen = std::make_shared<Seen>(Seen{.clock_waits = slow.clock_waits});
  const auto taken = [&slow, seen] { return seen->takeovers && slow.takeovers > *seen->takeovers; };
  Chronicle& chronicle = scene.chronicle;
  return {.what = slow.process->name() + " by " + std::to_string(-behind.count()) + " s, the others " +
                  (in_order ? "stopped" : "killed"),
          .heal =
              [&slow, &chronicle, &crew = scene.crew, others, informed, far, behind, taken] {
                crew.read_log(slow);
                // Another fault of its clock may have put it right meanwhile.
                if (far && taken() && slow.host->clock_shift() == -behind)
                  chronicle.violation(slow.process->name() + " took over with a clock that is " +
                                      std::to_string(behind.count()) + " s behind");
                put_clock_right(slow, informed);
                for (Member* member : others) member->process->release();
              },
          .step =
              [&slow, seen, begun = Clock::now()] {
                if (!seen->takeovers && Clock::now() - begun > kToldWithin) seen->takeovers = slow.takeovers;
              },
          .acted = [&slow, seen, far, taken] { return far ? slow.clock_waits > seen->clock_waits : taken(); }};
}

// Behind this place of a log.
bool says(const std::string& log, std::uint64_t from, std::string_view words) {
  std::ifstream file(log, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(from));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return text.find(words) != std::string::npos;
}

// A folder that does not say that it is ours is left alone, until somebody puts it right.
Harm damage_owner_of(Scene& scene, Member& member) {
  Supervised& process = *member.process;
  const int before = member.ends_with[kConfigurationExit];
  const std::uint64_t said_before = member.log_read;
  const std::string wrong = damage_owner(member.folder, scene.draw);
  process.release();
  Chronicle& chronicle = scene.chronicle;
  const auto refused = [&member, before] { return member.ends_with[kConfigurationExit] > before; };
  return {.what = process.name() + "; owner damaged",
          .heal =
              [&member, &chronicle, refused, wrong, said_before] {
                if (refused() && !says(member.process->log_file(), said_before, " belongs to "))
                  chronicle.violation(member.process->name() + " was refused, but not because of the folder's owner");
                if (owner_of(member.folder) != wrong)
                  chronicle.violation(member.process->name() + " took a folder that is not its own");
                remove_owner(member.folder);
                chronicle.note(member.process->name() + (refused() ? " was refused" : " had not asked yet"));
              },
          .over = refused,
          .excused = {{"end name=" + process.name() + " code=" + std::to_string(kConfigurationExit)}},
          .acted = refused};
}

// Whatever lies in the folder: it is caught up if that is right, or rebuilt. Bits that flip in a row are found when the
// row is read; what nobody reads again is wrong for ever, so the judge counts such copies and does not judge them.
Harm damage_state(Scene& scene) {
  Member& member = any_resequencer(scene);
  Supervised& process = *member.process;
  process.hold();
  if (scene.draw.chance(500)) {
    process.kill();
  } else {
    process.stop(seconds(20));
  }
  if (scene.draw.chance(200) && !owner_of(member.folder).empty()) return damage_owner_of(scene, member);
  // A rebuild before the damage is no rebuild after it.
  scene.crew.read_log(member);
  std::string what = process.name();
  bool any = false;
  for (const std::string& copy : copies_of(member.folder)) {
    if (!scene.draw.chance(600)) continue;
    const std::string kept = scene.site.settings().folder + "/kept" + copy.substr(copy.rfind('/'));
    const Damage done = damage(copy, kept, scene.draw);
    any = any || done.done();
    auto& wrong = done.silent ? member.damaged : member.exchanged;
    if (done.done()) wrong.insert(std::stoi(copy.substr(copy.rfind('/') + 1)));
    if (scene.draw.chance(400)) keep(copy, kept);
    what += "; " + copy.substr(copy.rfind('/') + 1) + ": " + done.what;
  }
  process.release();
  return {.what = what, .over = [] { return true; }, .acted = [any] { return any; }};
}

// The machine was started again: what the kernel had not written is lost, as far as anybody knows.
Harm reboot(Scene& scene) {
  Supervised& process = *any_resequencer(scene).process;
  process.arm({}, {"RESEQ_BOOT_ID=" + std::to_string(scene.draw.next())});
  process.kill();
  return {.what = process.name(), .over = [] { return true; }};
}

FaultKind kind(std::string_view name, std::string_view meaning, int shortest_ms, int longest_ms,
               Harm (*begin)(Scene&)) {
  return {.name = name,
          .meaning = meaning,
          .shortest = milliseconds(shortest_ms),
          .longest = milliseconds(longest_ms),
          .begin = begin};
}

}  // namespace

std::vector<FaultKind> host_faults() {
  return {
      kind("disk_full", "the disk of a process refuses every write with ENOSPC, EDQUOT or EIO", 2'000, 12'000,
           disk_full),
      kind("map_full", "a process starts with an LMDB map of a few pages, which has to grow", 0, 0, map_full),
      kind("clock_step", "the clock of a process steps by seconds, hours or years, and back", 2'000, 12'000,
           clock_step),
      kind("slow_host",
           "a host whose clock is behind is left alone: by seconds it takes over all partitions, by hours it must not",
           14'000, 22'000, slow_host),
      kind("damage_state",
           "copies of a stopped or killed process are damaged, cut, exchanged or removed, or its folder's owner is",
           10'000, 10'000, damage_state),
      kind("reboot", "a process is killed, and its host has been started anew", 0, 0, reboot),
  };
}

}  // namespace reseq::chaos
