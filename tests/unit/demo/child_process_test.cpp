// Children are ended by their pid, and a failure shows the end of their log.
#include "demo/process/child_process.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

#include "tests/unit/demo/repository.h"

namespace reseq::demo {
namespace {

class ChildProcessTest : public ::testing::Test {
 protected:
  ChildProcess start(const std::string& script) {
    return ChildProcess::start({.name = "child", .arguments = {"bash", "-c", script}, .log_file = log_}).value();
  }
  static const Ending& end_of(ChildProcess& child) {
    for (int i = 0; i < 1000 && !child.poll(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return *child.poll();
  }
  void wait_for_log(const std::string& line) {
    for (int i = 0; i < 1000; ++i) {
      std::ifstream log(log_);
      if (std::string first; std::getline(log, first) && first == line) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "the child never said " << line;
  }

 private:
  Repository folder_;
  std::string log_ = folder_.path() + "/log";
};

TEST_F(ChildProcessTest, TellsExitCodesAndSignalsApart) {
  ChildProcess good = start("exit 0");
  EXPECT_TRUE(end_of(good).good());
  ChildProcess bad = start("exit 3");
  EXPECT_FALSE(end_of(bad).good());
  EXPECT_EQ(end_of(bad).text(), "exit code 3");
  ChildProcess killed = start("kill -KILL $$");
  EXPECT_EQ(end_of(killed).text(), "signal 9 (Killed)");
}

TEST_F(ChildProcessTest, ShowsTheLastLinesOfBothOutputs) {
  ChildProcess child = start("for i in 1 2 3 4; do echo line $i; done; echo oops >&2; exit 1");
  end_of(child);
  EXPECT_EQ(child.last_lines(2), "  line 4\n  oops\n");
}

TEST_F(ChildProcessTest, StopsAtSigtermAndKillsWhatDoesNotListen) {
  ChildProcess polite = start("echo up; exec sleep 60");
  wait_for_log("up");
  polite.ask_to_stop();
  EXPECT_TRUE(polite.wait_or_kill(Milliseconds(5'000)));
  ChildProcess deaf = start("trap '' TERM; echo deaf; while true; do sleep 0.05; done");
  wait_for_log("deaf");
  deaf.ask_to_stop();
  EXPECT_FALSE(deaf.wait_or_kill(Milliseconds(200)));
  EXPECT_EQ(deaf.poll()->text(), "signal 9 (Killed)");
}

TEST_F(ChildProcessTest, ListensToSigtermEvenWhenItsStarterIgnoresIt) {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  ChildProcess child = start("echo up; exec sleep 60");
  std::signal(SIGTERM, before);
  wait_for_log("up");
  child.ask_to_stop();
  EXPECT_TRUE(child.wait_or_kill(Milliseconds(5'000)));
}

TEST_F(ChildProcessTest, RefusesAProgramThatDoesNotExist) {
  const auto child = ChildProcess::start({.name = "none", .arguments = {"/no/such/program"}, .log_file = "/dev/null"});
  ASSERT_FALSE(child.ok());
  EXPECT_NE(child.error().message.find("/no/such/program"), std::string::npos);
}

TEST(OutputOf, GivesStdoutOrAnError) {
  EXPECT_EQ(output_of({"printf", "%s", "a b"}).value(), "a b");
  EXPECT_FALSE(output_of({"false"}).ok());
  testing::internal::CaptureStderr();
  EXPECT_TRUE(output_of({"bash", "-c", "echo told >&2"}).ok());
  EXPECT_TRUE(output_of({"bash", "-c", "echo not told >&2"}, Complaints::kNobodys).ok());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "told\n");
}

}  // namespace
}  // namespace reseq::demo
