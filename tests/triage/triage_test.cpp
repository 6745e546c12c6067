// Every error code at every request: the worker ends in what cells.txt says, does not hang, and goes on when the errors
// stop.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <spdlog/spdlog.h>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "tests/support/process.h"
#include "tests/support/source_path.h"
#include "tests/triage/play.h"

namespace reseq::triage {
namespace {

// They wait most of the time, for time-outs and for groups to come together.
constexpr unsigned kAtOnce = 40;
// On a machine that is busy with something else so many at once meet their limits of 1 s and 4 s where they should not.
// What ends otherwise is therefore played once more, alone; more than these are no matter of chance.
constexpr std::size_t kAgainMax = 20;
// No cell waits longer for anything than a minute, some wait a few times.
constexpr std::chrono::minutes kHung{5};

std::string path(const char* file) {
  return test::source_path("tests/triage/") + file;
}

// Of the program that plays: where the names of cells stand that need not be played again.
constexpr const char* kPlayed = "RESEQ_CELLS_PLAYED";

// RESEQ_CELLS: only cells whose name contains it.
std::vector<Cell> cells_to_play() {
  const char* wanted = std::getenv("RESEQ_CELLS");
  std::vector<Cell> cells = read_cells(path("cells.txt"));
  if (const char* played = std::getenv(kPlayed)) {
    std::set<std::string> names;
    std::ifstream file(played);
    for (std::string name; std::getline(file, name);) names.insert(name);
    std::erase_if(cells, [&](const Cell& cell) { return names.contains(cell.name()); });
  }
  if (wanted != nullptr)
    std::erase_if(cells, [&](const Cell& cell) { return cell.name().find(wanted) == std::string::npos; });
  // The longest first.
  std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) { return a.times > b.times; });
  return cells;
}

// Plays cells, many at a time. A call that never comes back would tell nothing: what was played is printed then.
class Ensemble {
 public:
  Ensemble(std::vector<Cell> cells, unsigned at_once) : cells_(std::move(cells)), at_once_(at_once) {}

  // Those that ended otherwise than the table says, with what was seen.
  [[nodiscard]] std::vector<std::pair<Cell, std::string>> play_all() {
    std::vector<std::thread> players;
    for (unsigned i = 0; i < at_once_; ++i) players.emplace_back([this] { play_some(); });
    {
      std::unique_lock lock(mutex_);
      while (finished_ < cells_.size()) {
        const std::size_t before = finished_;
        if (done_.wait_for(lock, kHung, [&] { return finished_ > before; })) continue;
        for (const std::string& name : playing_) std::cerr << "hangs: " << name << std::endl;
        std::_Exit(1);
      }
    }
    for (std::thread& player : players) player.join();
    return std::move(wrong_);
  }

 private:
  void play_some() {
    std::unique_ptr<Subject> subject;
    for (std::size_t mine = next_++; mine < cells_.size(); mine = next_++) {
      const Cell& cell = cells_[mine];
      {
        const std::lock_guard lock(mutex_);
        playing_.insert(cell.name());
      }
      Outcome outcome;
      try {
        outcome = play(cell, subject);
      } catch (const std::exception& error) {
        outcome = {false, error.what()};
        subject.reset();
      }
      const std::lock_guard lock(mutex_);
      if (!outcome.as_told) wrong_.emplace_back(cell, outcome.seen);
      playing_.erase(cell.name());
      if (const char* played = std::getenv(kPlayed); played != nullptr && outcome.as_told)
        std::ofstream(played, std::ios::app) << cell.name() << std::endl;
      ++finished_;
      done_.notify_one();
    }
  }

  std::vector<Cell> cells_;
  unsigned at_once_;
  std::vector<std::pair<Cell, std::string>> wrong_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable done_;
  std::size_t finished_ = 0;
  std::set<std::string> playing_;
};

// The mock cluster of librdkafka 2.0.2 ends its process when a member joins anew while the answer to its last SyncGroup
// is still owed (`!member->resp`), more often on a machine that is busy: a program of its own plays the cells, and is
// started again behind that, as long as it gets on.
constexpr int kStartsForNothing = 5;
constexpr int kPlayLimitMs = 400'000;

TEST(Triage, EveryErrorCodeAtEveryRequestEndsAsTheTableSays) {
  if (std::getenv("RESEQ_CELLS") == nullptr && std::getenv(kPlayed) == nullptr) {
    const test::TempDir folder;
    std::uintmax_t played = 0;
    for (int for_nothing = 0; for_nothing < kStartsForNothing; ++for_nothing) {
      test::Process player({"env", kPlayed + ("=" + folder.path()) + "/played", test::program("test_triage"),
                            "--gtest_filter=Triage.EveryErrorCode*"},
                           folder.path() + "/log");
      const int code = player.wait(kPlayLimitMs);
      if (code == 0) return;
      ASSERT_EQ(code, 128 + SIGABRT) << player.tail(20'000);
      ASSERT_NE(player.tail().find("`!member->resp' failed"), std::string::npos) << player.tail();
      std::error_code none_yet;
      const std::uintmax_t now = std::filesystem::file_size(folder.path() + "/played", none_yet);
      if (!none_yet && now > std::exchange(played, now)) for_nothing = -1;
    }
    FAIL() << "the mock cluster ended " << kStartsForNothing << " programs before one cell was played";
  }
  if (std::getenv("RESEQ_CELLS") == nullptr) spdlog::set_level(spdlog::level::off);
  std::vector<Cell> cells = cells_to_play();
  ASSERT_TRUE(!cells.empty() || std::getenv(kPlayed) != nullptr);
  std::cout << cells.size() << " cells\n";
  std::vector<Cell> again;
  for (const auto& [cell, seen] : Ensemble(std::move(cells), kAtOnce).play_all()) {
    std::cout << "once more: cells.txt:" << cell.line << ": " << cell.name() << ": " << seen << std::endl;
    again.push_back(cell);
  }
  ASSERT_LE(again.size(), kAgainMax);
  for (const auto& [cell, seen] : Ensemble(std::move(again), 1).play_all())
    ADD_FAILURE() << "cells.txt:" << cell.line << ": " << cell.name() << ": " << seen;
}

// Whoever plays a code must play it once and three times; metadata is answered with one until that is ended.
TEST(Triage, EveryCodeIsTriedAtEveryRequestOrTheReasonWhyNotIsGiven) {
  using Pair = std::pair<std::string, std::string>;
  std::map<Pair, std::set<Times>> tried;
  std::set<std::string> always;
  for (const Cell& cell : read_cells(path("cells.txt"))) {
    EXPECT_TRUE(tried[Pair(cell.api, cell.code_name)].insert(cell.times).second) << cell.line << ": " << cell.name();
    if (cell.times == Times::kAlways) always.insert(cell.api);
  }
  std::map<Pair, int> reasons;
  for (const Unreachable& group : read_unreachable(path("unreachable.txt")))
    for (const std::string& api : group.apis)
      for (const std::string& code : group.codes) ++reasons[Pair(api, code)];
  EXPECT_GE(codes().size(), 100U);
  for (const std::string& api : apis()) {
    for (const std::string& code : codes()) {
      const Pair pair(api, code);
      const bool is_tried = tried.contains(pair);
      EXPECT_EQ(reasons[pair], is_tried ? 0 : 1) << api << " " << code;
      if (!is_tried) continue;
      const std::set<Times>& times = tried[pair];
      EXPECT_TRUE(api.starts_with("Metadata") || (times.contains(Times::kOnce) && times.contains(Times::kThree)))
          << api << " " << code;
    }
    EXPECT_TRUE(always.contains(api) || api == "LeaveGroup") << api;
  }
}

}  // namespace
}  // namespace reseq::triage
