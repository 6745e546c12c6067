// What the end of a command says of its document, and the last line that it has written.
#include "consumers/command/ending.h"

#include <csignal>
#include <gtest/gtest.h>

#include "consumers/command/last_line.h"

namespace reseq::command {
namespace {

TEST(FailureOfAnEnding, IsTransientOnlyWithExitCode75) {
  EXPECT_EQ(failure_of({.exit_code = 75}, "").kind, FailureKind::kTransient);
  for (const Ending& ending : {Ending{.exit_code = 0}, Ending{.exit_code = 1}, Ending{.exit_code = 74},
                               Ending{.exit_code = 76}, Ending{.exit_code = 127}, Ending{.exit_code = 75, .signal = 9}})
    EXPECT_EQ(failure_of(ending, "").kind, FailureKind::kUnknown) << ending.text();
  EXPECT_EQ(failure_of({.exit_code = 75}, "").scope, FailureScope::kDocument);
}

TEST(FailureOfAnEnding, NeverSaysThatNothingWasDone) {
  for (const Ending& ending : {Ending{.exit_code = 0}, Ending{.exit_code = 1}, Ending{.exit_code = 75},
                               Ending{.exit_code = 75, .signal = SIGKILL}})
    EXPECT_FALSE(failure_of(ending, "none").without_effect) << ending.text();
}

TEST(FailureOfAnEnding, SaysTheLastLineAndWithoutOneHowItEnded) {
  EXPECT_EQ(failure_of({.exit_code = 75}, "locked").error, "locked");
  EXPECT_EQ(failure_of({.signal = SIGKILL}, "short of memory").error, "short of memory");
  EXPECT_EQ(failure_of({.exit_code = 75}, "").error, "exit status 75");
  EXPECT_EQ(failure_of({.exit_code = 0}, "").error, "exit status 0 without an answer");
  EXPECT_EQ(failure_of({.signal = SIGKILL}, "").error, "signal SIGKILL");
  EXPECT_EQ(failure_of({.signal = SIGRTMIN + 3}, "").error, "signal " + std::to_string(SIGRTMIN + 3));
}

TEST(LastLine, IsTheLastOneThatIsNotBlank) {
  LastLine line;
  EXPECT_EQ(line.text(), "");
  line.add("first\nse");
  EXPECT_EQ(line.text(), "se");
  line.add("cond \t\r\n");
  EXPECT_EQ(line.text(), "second");
  line.add("\n  \n \t");
  EXPECT_EQ(line.text(), "second");
  line.add("x");
  EXPECT_EQ(line.text(), "x");
  line.clear();
  EXPECT_EQ(line.text(), "");
}

TEST(LastLine, KeepsOnlyTheBeginningOfALongOne) {
  LastLine line;
  for (int i = 0; i < 10; ++i) line.add(std::string(1'000, static_cast<char>('0' + i)));
  EXPECT_EQ(line.text().size(), LastLine::kBytesMax);
  EXPECT_EQ(line.text().substr(0, 1'001), std::string(1'000, '0') + "1");
  line.add("\nshort\n");
  EXPECT_EQ(line.text(), "short");
}

}  // namespace
}  // namespace reseq::command
