// Every case of the scenario files as a test, and what they reach together.
#include <cctype>
#include <gtest/gtest.h>
#include <set>

#include "model/effects.h"
#include "player.h"
#include "tests/support/source_path.h"

namespace reseq::scenarios {
namespace {

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = read_cases(test::source_path("tests/scenarios"));
  return cases;
}

std::string test_name(const testing::TestParamInfo<Case>& played) {
  std::string name = played.param.file.substr(0, played.param.file.find('.'));
  name += "_" + std::to_string(played.param.number) + "_" + played.param.sentence;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

class Scenario : public testing::TestWithParam<Case> {};

TEST_P(Scenario, EndsAsWritten) {
  for (const std::string& failure : Player(GetParam()).play()) ADD_FAILURE() << failure;
}

INSTANTIATE_TEST_SUITE_P(Tables, Scenario, testing::ValuesIn(all_cases()), test_name);

std::set<std::string> words_expected() {
  std::set<std::string> words;
  for (const Case& one : all_cases())
    for (const Line& line : one.lines) {
      std::string word;
      for (const char c : line.expected + " ") {
        if (c != ' ') {
          word += c;
          continue;
        }
        words.insert(word);
        word.clear();
      }
    }
  return words;
}

TEST(Scenarios, ReachEveryRowOfTheDecisionTables) {
  const std::set<std::string> words = words_expected();
  for (const std::string_view row : kTableRowNames) EXPECT_TRUE(words.contains(std::string(row))) << row;
}

TEST(Scenarios, ReachEveryReasonThatTheEngineGives) {
  const std::set<std::string> words = words_expected();
  for (const Reason reason : {Reason::kSuperseded,
                              Reason::kEpochBehind,
                              Reason::kStale,
                              Reason::kDuplicate,
                              Reason::kUnregistered,
                              Reason::kUnregisteredTarget,
                              Reason::kSequenceReused,
                              Reason::kEpochMissing,
                              Reason::kIdCollision,
                              Reason::kNoTarget,
                              Reason::kMissingTarget,
                              Reason::kAmbiguousTargets,
                              Reason::kTooLarge,
                              Reason::kReprocessNeedsInline,
                              Reason::kResetNeedsEpochs,
                              Reason::kObservedVersionTooHigh,
                              Reason::kVersionExhausted,
                              Reason::kBodyGone,
                              Reason::kExpired,
                              Reason::kTimedOut,
                              Reason::kAttemptMissing,
                              Reason::kAttemptBehind,
                              Reason::kGap,
                              Reason::kOrderedTarget})
    EXPECT_TRUE(words.contains(std::string(name_of(reason)))) << name_of(reason);
}

TEST(Scenarios, ReachEveryOutcomeOfAnInput) {
  const std::set<std::string> words = words_expected();
  for (const std::string_view outcome : kOutcomeNames) {
    if (outcome == name_of(Outcome::kStopped)) continue;
    if (outcome == name_of(Outcome::kWaiting)) continue;  // the scenarios of the journal
    EXPECT_TRUE(words.contains(std::string(outcome))) << outcome;
  }
  EXPECT_TRUE(words.contains("stop"));
}

}  // namespace
}  // namespace reseq::scenarios
