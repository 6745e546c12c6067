// Everything that a group of processes meets in its life, on one state: processes killed inside of transactions, taken
// over by others, paused over a timer, stopped and started, one without its copy. The outputs must be those of an
// undisturbed run, and copies on disk must spare what they are for.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <set>
#include <thread>

#include "tests/e2e/echo_pipeline.h"
#include "tests/e2e/fleet.h"
#include "tests/e2e/folded_state.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/e2e/source.h"
#include "tests/e2e/workload.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using std::chrono::milliseconds;
using testing::IsEmpty;

constexpr int kInstances = 3;
constexpr int kPartitions = 6;
constexpr std::uint64_t kCheckpointRows = 5000;
constexpr std::uint64_t kBatchRecords = 5000;
// A checkpoint is due when this many rows changed; the batch that makes it due can be a whole one, and a row that
// changed several times is read as often.
constexpr std::uint64_t kRereadMax = 2 * (kCheckpointRows + kBatchRecords);
constexpr std::size_t kSilentEarly = 1000;  // while processes are killed
constexpr std::size_t kSilent = 2000;       // the others before one is paused
constexpr milliseconds kTimeout{15'000};    // until they are overdue

// Times as short as brokers and clients allow, so that losing a process costs seconds.
std::string configuration() {
  return "init.partitions = " + std::to_string(kPartitions) +
         "\ninit.output_partitions = " + std::to_string(kPartitions) +
         "\nsession.timeout.ms = 6000\ntransaction.timeout.ms = 5000\nsocket.timeout.ms = 3000\nlog_level = \"debug\"" +
         "\ncheckpoint_interval_ms = 1000\ncheckpoint_rows_max = " + std::to_string(kCheckpointRows) +
         "\nbatch_records_max = " + std::to_string(kBatchRecords) +
         "\nstarvation_after_ms = 0\nregistration_timeout_ms = " + std::to_string(kTimeout.count());
}

struct Kills {
  int all = 0;
  int in_transaction = 0;
  int taken_over = 0;
  std::map<int, int> of;  // by instance
};

class Life {
 public:
  explicit Life(std::uint64_t seed, std::uint64_t documents)
      : workload_(seed, documents, 3, kTwoTargets),
        run_(Broker::shared().bootstrap_servers(), unique_name("durability"), kTwoTargets, configuration()),
        pipeline_(run_.connection(), run_.application_id(), seed),
        overdue_(run_.connection(), run_.topic("events")),
        fleet_(run_, kInstances) {}

  void load_and_kill();
  void pause_one_over_a_timer();
  void stop_and_start();
  void rebuild_one();
  void expect_all();

 private:
  bool settle();
  bool drain();
  void kill_one(bool leave_dead, Kills& kills);
  [[nodiscard]] std::map<int, std::int64_t> open_of(int instance);
  [[nodiscard]] std::vector<Takeover> takeovers_since(std::size_t count) const;
  void expect_outputs();
  void print(const Kills& kills) const;

  Workload workload_;
  ResequencerRun run_;
  EchoPipeline pipeline_;
  OverdueWatch overdue_;
  Fleet fleet_;
};

// Every partition is read by somebody, and everybody reads one.
bool Life::settle() {
  const bool settled = wait_until(kPatience, [&] {
    std::this_thread::sleep_for(milliseconds(100));
    fleet_.look();
    return fleet_.settled(kPartitions);
  });
  if (settled) return true;
  for (int instance = 1; instance <= kInstances; ++instance)
    std::cout << "instance=" << instance << " running=" << fleet_.process(instance).running()
              << " partitions=" << testing::PrintToString(fleet_.partitions_of(instance)) << '\n'
              << fleet_.process(instance).tail() << std::endl;
  return false;
}

// Nothing waits anywhere, and the pipeline has nothing left to answer.
bool Life::drain() {
  const auto idle = [&] { return !pipeline_.failure().empty() || (run_.drained() && pipeline_.idle_ms() > 2'000); };
  return wait_until(milliseconds(150'000), [&] { return idle() && idle(); }) && pipeline_.failure().empty();
}

std::map<int, std::int64_t> Life::open_of(int instance) {
  auto open = run_.open_transactions();
  std::erase_if(open, [&](const auto& entry) { return fleet_.owner(entry.first) != instance; });
  return open;
}

std::vector<Takeover> Life::takeovers_since(std::size_t count) const {
  const auto& all = fleet_.takeovers();
  return {all.begin() + static_cast<std::ptrdiff_t>(count), all.end()};
}

// Kills a process that has a transaction open, and starts it again: at once, or when others have all of its partitions.
void Life::kill_one(bool leave_dead, Kills& kills) {
  int victim = 0;
  const bool found = wait_until(milliseconds(20'000), [&] {
    fleet_.look();
    for (const auto& [partition, stable_end] : run_.open_transactions())
      if (const auto owner = fleet_.owner(partition); owner && (victim == 0 || kills.of[*owner] < kills.of[victim]))
        victim = *owner;
    return victim != 0;
  });
  ASSERT_TRUE(found) << "no transaction was open for 20 s";
  const std::vector<int> held = fleet_.partitions_of(victim);
  fleet_.process(victim).signal(SIGKILL);
  ASSERT_EQ(fleet_.process(victim).wait(5'000), 128 + SIGKILL) << fleet_.process(victim).tail();
  ++kills.all;
  ++kills.of[victim];
  // A transaction that nobody ends stays open at the same offset.
  const auto open = open_of(victim);
  std::this_thread::sleep_for(milliseconds(400));
  const auto still_open = open_of(victim);
  fleet_.kill(victim);
  const bool hangs = std::any_of(open.begin(), open.end(), [&](const auto& entry) {
    const auto same = still_open.find(entry.first);
    return same != still_open.end() && same->second == entry.second;
  });
  if (hangs) ++kills.in_transaction;
  if (leave_dead) {
    const bool taken_over = wait_until(kPatience, [&] {
      std::this_thread::sleep_for(milliseconds(50));
      fleet_.look();
      return std::all_of(held.begin(), held.end(), [&](int partition) { return fleet_.owner(partition).has_value(); });
    });
    ASSERT_TRUE(taken_over) << "partitions of instance " << victim << " were not taken over";
    if (!held.empty()) ++kills.taken_over;
  }
  fleet_.start(victim);
}

void Life::load_and_kill() {
  Kills kills;
  std::atomic<bool> hurry = false;
  const std::size_t total = workload_.requests().size();
  std::jthread sender([&] {
    Source source(run_);
    source.send_silent(0, kSilentEarly / 2);
    source.send(workload_, 0, total / 10 * 7, milliseconds(60'000), hurry);
    source.send_silent(kSilentEarly / 2, kSilentEarly);
    // Something goes on for as long as there is somebody to kill.
    source.send(workload_, total / 10 * 7, total / 10 * 9, milliseconds(120'000), hurry);
  });
  const bool begun = settle();
  for (int tries = 0; begun && tries < 40 && !testing::Test::HasFatalFailure(); ++tries) {
    if (kills.all >= 11 && kills.in_transaction >= 8 && kills.taken_over >= 3) break;
    kill_one(tries % 4 == 3 && kills.taken_over < 3, kills);
    std::this_thread::sleep_for(milliseconds(1500));
  }
  hurry = true;
  sender.join();
  ASSERT_TRUE(begun && settle());
  ASSERT_TRUE(drain()) << pipeline_.failure();
  fleet_.look();
  print(kills);
  EXPECT_GE(kills.all, 10);
  EXPECT_GE(kills.in_transaction, 7);
  EXPECT_GE(kills.taken_over, 3);
  for (int partition = 0; partition < kPartitions; ++partition)
    EXPECT_GE(fleet_.checkpoints(partition), 20U) << "partition " << partition;
  // Back in its own copy, a process reads what it had not written to disk, and not more.
  for (const Takeover& one : fleet_.takeovers()) {
    if (one.born || one.before != one.instance) continue;
    EXPECT_EQ(one.recovery, "reuse") << "partition " << one.partition << " reason " << one.reason;
    EXPECT_LE(one.records_read, kRereadMax) << "partition " << one.partition;
  }
}

void Life::print(const Kills& kills) const {
  std::map<std::string, int> recoveries;
  std::uint64_t reread = 0;
  for (const Takeover& one : fleet_.takeovers()) {
    ++recoveries[one.born ? "born" : one.recovery + "/" + one.reason];
    if (!one.born && one.before == one.instance) reread = std::max(reread, one.records_read);
  }
  std::cout << "kills=" << kills.all << " in_transaction=" << kills.in_transaction
            << " taken_over_by_others=" << kills.taken_over << " most_records_reread=" << reread;
  for (const auto& [name, count] : recoveries) std::cout << ' ' << name << '=' << count;
  for (const auto& [name, count] : fleet_.transactions_ended()) std::cout << " transactions_" << name << '=' << count;
  std::cout << " checkpoints=";
  for (int partition = 0; partition < kPartitions; ++partition) std::cout << fleet_.checkpoints(partition) << ',';
  std::cout << std::endl;
}

// A process that wakes up still believes in its partitions, and that their timers are due.
void Life::pause_one_over_a_timer() {
  Source(run_).send_silent(kSilentEarly, kSilent);
  ASSERT_TRUE(drain());
  fleet_.look();
  const int idle = fleet_.owner(0).value();
  const std::vector<int> held = fleet_.partitions_of(idle);
  ASSERT_THAT(open_of(idle), IsEmpty());
  overdue_.look();
  ASSERT_EQ(overdue_.seen(silent_id, kSilentEarly, kSilent), 0U) << "too slow: the timers fired before the pause";
  const std::size_t takeovers = fleet_.takeovers().size();
  fleet_.process(idle).signal(SIGSTOP);
  const bool fired = wait_until(kPatience, [&] {
    overdue_.look();
    return overdue_.seen(silent_id, kSilentEarly, kSilent) == kSilent - kSilentEarly;
  });
  fleet_.look();
  const std::vector<Takeover> others = takeovers_since(takeovers);
  for (const int partition : held)
    EXPECT_TRUE(std::any_of(others.begin(), others.end(),
                            [&](const Takeover& one) { return one.partition == partition && one.instance != idle; }))
        << "partition " << partition << " was not taken over";
  fleet_.process(idle).signal(SIGCONT);
  ASSERT_TRUE(fired) << "not every timer fired";
  const bool back = wait_until(kPatience, [&] {
    std::this_thread::sleep_for(milliseconds(100));
    fleet_.look();
    const auto since = takeovers_since(takeovers);
    return fleet_.settled(kPartitions) &&
           std::any_of(since.begin(), since.end(), [&](const Takeover& one) { return one.instance == idle; });
  });
  ASSERT_TRUE(back) << "the paused process did not come back: " << fleet_.process(idle).tail();
  std::cout << "paused instance=" << idle << " partitions=" << held.size() << " overdue_events=" << overdue_.total();
  for (const auto& [name, count] : fleet_.transactions_ended()) std::cout << " transactions_" << name << '=' << count;
  std::cout << std::endl;
}

void Life::stop_and_start() {
  ASSERT_TRUE(drain());
  for (int instance = 1; instance <= kInstances; ++instance) fleet_.process(instance).signal(SIGTERM);
  for (int instance = 1; instance <= kInstances; ++instance)
    ASSERT_EQ(fleet_.stop(instance), 0) << fleet_.process(instance).tail();
  const std::size_t before = fleet_.takeovers().size();
  for (int instance = 1; instance <= kInstances; ++instance) fleet_.start(instance);
  ASSERT_TRUE(settle());
  std::uint64_t most = 0;
  std::set<int> seen;
  for (const Takeover& one : takeovers_since(before)) {
    EXPECT_EQ(one.recovery, "reuse") << "partition " << one.partition << " reason " << one.reason;
    EXPECT_LE(one.records_read, kCheckpointRows) << "partition " << one.partition;
    most = std::max(most, one.records_read);
    seen.insert(one.partition);
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kPartitions));
  std::cout << "clean_restart takeovers=" << takeovers_since(before).size() << " most_records_reread=" << most
            << std::endl;
  const std::size_t total = workload_.requests().size();
  const std::atomic<bool> never = false;
  Source(run_).send(workload_, total / 10 * 9, total, milliseconds(3'000), never);
  ASSERT_TRUE(drain());
}

void Life::rebuild_one() {
  fleet_.look();
  const int instance = fleet_.owner(0).value();
  ASSERT_EQ(fleet_.stop(instance), 0) << fleet_.process(instance).tail();
  ASSERT_GT(std::filesystem::remove_all(run_.state_folder(instance)), 0U);
  const std::size_t before = fleet_.takeovers().size();
  fleet_.start(instance);
  ASSERT_TRUE(settle());
  int rebuilt = 0;
  for (const Takeover& one : takeovers_since(before)) {
    if (one.instance != instance) continue;
    EXPECT_EQ(one.recovery + "/" + one.reason, "rebuild/no_copy") << "partition " << one.partition;
    ++rebuilt;
    std::cout << "rebuilt partition=" << one.partition << " records_read=" << one.records_read
              << " ms=" << one.duration_ms << std::endl;
  }
  EXPECT_GT(rebuilt, 0);
  for (const auto& [partition, folded] : fold_changelog(run_.connection(), run_.topic("changelog"))) {
    EXPECT_EQ(folded.rows, folded.promised) << "partition " << partition;
    EXPECT_GT(folded.rows.counts[Count::kLiveRows] + folded.rows.counts[Count::kWatermarks], 0U);
    std::cout << "folded partition=" << partition << " records=" << folded.records
              << " live=" << folded.rows.counts[Count::kLiveRows]
              << " watermarks=" << folded.rows.counts[Count::kWatermarks]
              << " generation=" << folded.lineage.back().number << std::endl;
  }
}

void Life::expect_all() {
  for (int instance = 1; instance <= kInstances; ++instance)
    EXPECT_EQ(fleet_.stop(instance), 0) << fleet_.process(instance).tail();
  EXPECT_THAT(fleet_.complaints(), IsEmpty());
  overdue_.look();
  EXPECT_THAT(overdue_.doubled(), IsEmpty());
  std::vector<std::string> wrong;
  for (std::size_t i = 0; i < kSilent; ++i)
    if (overdue_.of(silent_id(i)) != 1) wrong.push_back(silent_id(i));
  EXPECT_THAT(wrong, IsEmpty()) << "without exactly one overdue event";
  for (const std::string& target : kTwoTargets) {
    const auto outputs = read_outputs(run_.connection(), run_.topic("output." + target));
    EXPECT_THAT(violations(outputs, workload_.end().at(target)), IsEmpty()) << "target " << target;
    std::cout << "outputs target=" << target << " documents=" << workload_.end().at(target).size()
              << " releases=" << outputs.size() << std::endl;
  }
  EXPECT_THAT(read_outputs(run_.connection(), run_.topic("dead-letter")), IsEmpty());
}

TEST(Durability, SurvivesKillsTakeoversPausesRestartsAndALostCopy) {
  const std::uint64_t seed = number_from("RESEQ_SEED", 20260102);
  const std::uint64_t documents = number_from("RESEQ_E2E_DOCUMENTS", 200'000);
  std::cout << "seed=" << seed << " documents=" << documents << std::endl;
  Life life(seed, documents);
  const auto lived = [&](const char* part, const std::function<void()>& live) {
    const auto begin = std::chrono::steady_clock::now();
    if (!testing::Test::HasFatalFailure()) live();
    std::cout << "part=" << part << " seconds="
              << std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count()
              << std::endl;
  };
  lived("load_and_kill", [&] { life.load_and_kill(); });
  lived("pause_one_over_a_timer", [&] { life.pause_one_over_a_timer(); });
  lived("stop_and_start", [&] { life.stop_and_start(); });
  lived("rebuild_one", [&] { life.rebuild_one(); });
  lived("expect_all", [&] { life.expect_all(); });
}

}  // namespace
}  // namespace reseq::test
