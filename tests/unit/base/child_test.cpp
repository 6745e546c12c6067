#include "base/child.h"

#include <cerrno>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace reseq {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{60'000};

// Started in sh; what it prints can be read.
class Script {
 public:
  explicit Script(const std::string& text, ChildOptions options = {}) : pipe_(open_pipe().value()) {
    options.out = pipe_.writing.number();
    child_.emplace(Child::start({"sh", "-c", text}, options).value());
    pipe_.writing.close();
  }
  Child& child() { return *child_; }
  // As far as it is written; empty at the end.
  std::string read() {
    std::string text(100, '\0');
    const ssize_t n = ::read(pipe_.reading.number(), text.data(), text.size());
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }
  // Neither it nor what it started holds the other end any more.
  bool all_have_ended() { return read().empty(); }
  void leave() { child_.reset(); }

 private:
  Pipe pipe_;
  std::optional<Child> child_;
};

TEST(Child, TellsHowItEnded) {
  const Ending good = Script("exit 0").child().wait();
  EXPECT_TRUE(good.good());
  EXPECT_EQ(good.text(), "exit code 0");
  const Ending bad = Script("exit 3").child().wait();
  EXPECT_FALSE(bad.good());
  EXPECT_EQ(bad.text(), "exit code 3");
  const Ending killed = Script("kill -KILL $$").child().wait();
  EXPECT_FALSE(killed.good());
  EXPECT_EQ(killed.text(), "signal 9 (Killed)");
}

TEST(Child, HasNoNumberOnceItHasEnded) {
  Script script("read line");  // at its end at once: descriptor 0 is /dev/null
  EXPECT_GT(script.child().pid(), 0);
  EXPECT_TRUE(script.child().wait_or_kill(kLong));
  EXPECT_FALSE(script.child().running());
  EXPECT_EQ(script.child().pid(), -1);
  script.child().signal(SIGKILL);  // to nobody
  EXPECT_EQ(script.child().wait().signal, 0);
}

TEST(Child, EndsWithItsOwner) {
  Script script("echo up; exec sleep 600");
  EXPECT_EQ(script.read(), "up\n");
  const pid_t pid = script.child().pid();
  Child moved = std::move(script.child());
  script.leave();  // what is left of it owns nothing
  EXPECT_TRUE(moved.running());
  { const Child last = std::move(moved); }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Child, IsKilledWhenItDoesNotEndInTime) {
  Script script("echo up; exec sleep 600");
  EXPECT_FALSE(script.child().wait_or_kill(milliseconds(20)));
  EXPECT_EQ(script.child().wait().signal, SIGKILL);
}

TEST(Child, OfItsOwnGroupIsSignalledWithWhatItRuns) {
  Script script("sleep 600 & echo up; wait", {.own_group = true});
  EXPECT_EQ(script.read(), "up\n");
  script.child().signal_group(SIGKILL);
  EXPECT_EQ(script.child().wait().signal, SIGKILL);
  EXPECT_TRUE(script.all_have_ended());
}

TEST(Child, HasOurEnvironmentOrTheGivenOne) {
  ASSERT_EQ(::setenv("RESEQ_CHILD_TEST", "ours", 1), 0);
  EXPECT_EQ(Script("echo $RESEQ_CHILD_TEST").read(), "ours\n");
  EXPECT_EQ(
      Script("echo $RESEQ_CHILD_TEST", {.environment = std::vector<std::string>{"RESEQ_CHILD_TEST=given"}}).read(),
      "given\n");
}

TEST(Child, ListensToTheSignalsThatItsStarterIgnores) {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  EXPECT_EQ(Script("kill $$; exit 3").child().wait().signal, SIGTERM);
  EXPECT_EQ(Script("kill $$; exit 3", {.default_signals = {}}).child().wait().exit_code, 3);
  std::signal(SIGTERM, before);
}

TEST(Child, HasEndedAlsoWhenNobodySawHow) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  Script script("exit 0");
  const Ending ending = script.child().wait();
  std::signal(SIGCHLD, before);
  EXPECT_FALSE(ending.good());
  EXPECT_THAT(ending.text(), testing::HasSubstr("nobody saw"));
  EXPECT_FALSE(script.child().running());
}

// As in `reseq-stage 2>&-`.
TEST(Child, StartsWhenADescriptorThatItSharesIsClosed) {
  const int kept = ::dup(STDERR_FILENO);
  ::close(STDERR_FILENO);
  auto child = Child::start({"sh", "-c", "echo lost >&2; exit 3"}, {.err = STDERR_FILENO});
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  ASSERT_TRUE(child.ok()) << child.error().message;
  EXPECT_EQ(child.value().wait().exit_code, 3);
}

TEST(Child, RefusesAProgramThatDoesNotExist) {
  const auto child = Child::start({"/no/such/program"}, {});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().message, "cannot start /no/such/program: No such file or directory");
}

}  // namespace
}  // namespace reseq
