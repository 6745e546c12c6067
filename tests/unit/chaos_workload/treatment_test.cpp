#include "tests/chaos/workload/treatment.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "tests/chaos/workload/plan.h"

namespace reseq::chaos {
namespace {

constexpr std::uint64_t kSeed = 11;
constexpr std::uint64_t kTreated = 10'000;
const std::vector<std::string> kDefault = {"search", "catalogue"};

std::string id_of(std::uint64_t n) {
  return "doc-" + std::to_string(n % 500);
}

std::vector<PlannedAnswer> answers_to(std::uint64_t n, std::uint64_t revision = 0) {
  const std::string id = id_of(n);
  return answers(kSeed, {.id = id, .epoch = 1, .sequence = n, .revision = revision}, kDefault);
}

std::string text_of(const stage::StageResult& result) {
  std::string text = std::to_string(static_cast<int>(result.answer)) + " " + result.target;
  for (const stage::OwnedHeader& header : result.headers) text += " " + header.name + "=" + header.value.value_or("-");
  return text + (result.observed ? " observed" : "");
}

std::multiset<std::string> texts_of(const std::vector<PlannedAnswer>& answers) {
  std::multiset<std::string> texts;
  for (const PlannedAnswer& answer : answers) texts.insert(text_of(answer.result));
  return texts;
}

bool is_good_result(const stage::StageResult& result, const std::string& target) {
  return result.answer == stage::Answer::kSequence && result.target == target && result.headers.empty() &&
         !result.observed;
}

bool has_good_result(const std::vector<PlannedAnswer>& answers, const std::string& target) {
  return std::ranges::any_of(answers,
                             [&](const PlannedAnswer& answer) { return is_good_result(answer.result, target); });
}

TEST(Treatment, AnswersARecordThatIsReadAgainInTheSameWay) {
  for (std::uint64_t n = 0; n < 1'000; ++n) {
    const auto once = answers_to(n);
    const auto twice = answers_to(n);
    EXPECT_EQ(texts_of(once), texts_of(twice));
    EXPECT_TRUE(std::ranges::equal(once, twice, {}, &PlannedAnswer::after, &PlannedAnswer::after));
  }
}

TEST(Treatment, AnswersEveryTargetThatIsNotExcused) {
  std::uint64_t excused_pieces = 0;
  for (std::uint64_t n = 0; n < kTreated; ++n)
    for (const std::string& target : kDefault)
      for (const std::uint64_t revision : {0U, 1U}) {
        if (excused(kSeed, {id_of(n), target, 1, n})) {
          ++excused_pieces;
          continue;
        }
        EXPECT_TRUE(has_good_result(answers_to(n, revision), target)) << n << " " << target;
      }
  const double share = static_cast<double>(excused_pieces) / (4.0 * kTreated);
  EXPECT_GT(share, 0.01);
  EXPECT_LT(share, 0.05);
}

TEST(Treatment, ExcusesWhateverItGivesUp) {
  std::uint64_t given_up = 0;
  for (std::uint64_t n = 0; n < kTreated; ++n)
    for (const PlannedAnswer& answer : answers_to(n)) {
      if (answer.result.answer != stage::Answer::kUnregister) continue;
      if (answer.result.target.empty()) continue;  // a list copied from `work`, which gives up nothing
      ++given_up;
      const bool all = answer.result.target == "*";
      for (const config::Target& target : targets())
        EXPECT_TRUE(excused(kSeed, {id_of(n), target.name, 1, n}) || !(all || answer.result.target == target.name))
            << n << " " << target.name;
    }
  EXPECT_GT(given_up, 150U);
}

TEST(Treatment, LosesSomeResultsForGood) {
  std::uint64_t lost = 0;
  for (std::uint64_t n = 0; n < kTreated; ++n)
    for (const std::string& target : kDefault)
      if (!has_good_result(answers_to(n), target)) {
        EXPECT_FALSE(has_good_result(answers_to(n, 1), target));
        EXPECT_TRUE(excused(kSeed, {id_of(n), target, 1, n}));
        ++lost;
      }
  EXPECT_GT(lost, 80U);
}

TEST(Treatment, AddsATargetBeforeItSendsTheResultForIt) {
  std::uint64_t added = 0;
  for (std::uint64_t n = 0; n < kTreated; ++n) {
    const auto answers = answers_to(n);
    const auto registers = std::ranges::find_if(
        answers, [](const PlannedAnswer& one) { return one.result.answer == stage::Answer::kRegister; });
    if (registers == answers.end()) continue;
    ++added;
    const auto behind = std::find_if(registers, answers.end(), [&](const PlannedAnswer& one) {
      return is_good_result(one.result, registers->result.target);
    });
    EXPECT_NE(behind, answers.end());
  }
  EXPECT_GT(added, 100U);
}

TEST(Treatment, SendsOutOfOrderLateAndTwice) {
  std::uint64_t twice = 0, late = 0, overtakes = 0, all = 0;
  for (std::uint64_t n = 0; n < kTreated; ++n) {
    const auto answers = answers_to(n);
    EXPECT_TRUE(std::ranges::is_sorted(answers, {}, &PlannedAnswer::after));
    std::map<std::string, std::uint64_t> results;
    for (const PlannedAnswer& answer : answers) {
      ++all;
      EXPECT_LE(answer.after, kLongestAnswer);
      if (answer.after > Milliseconds(400)) ++late;
      if (is_good_result(answer.result, answer.result.target)) ++results[answer.result.target];
    }
    for (const auto& [target, count] : results)
      if (count > 1) ++twice;
    const auto next = answers_to(n + 500);  // of the same document
    if (!answers.empty() && !next.empty() && next.front().after < answers.back().after) ++overtakes;
  }
  EXPECT_GT(twice, kTreated / 20);
  EXPECT_GT(late, all / 40);
  EXPECT_LT(late, all / 10);
  EXPECT_GT(overtakes, kTreated / 4);
}

// With a lease. Behind kAttemptsFailed nothing else fails.
std::optional<FailureKind> failure_of(std::uint64_t n, const std::string& target, std::uint64_t attempt) {
  const std::string id = id_of(n);
  for (const PlannedAnswer& one : answers(kSeed, {.id = id, .epoch = 1, .sequence = n, .attempt = attempt}, {target}))
    if (one.result.answer == stage::Answer::kFail) return one.result.failure.kind;
  return std::nullopt;
}

bool fails_for_good(std::uint64_t n, const std::string& target) {
  return failure_of(n, target, kAttemptsFailed + 1).has_value();
}

// Work that is lost comes back where it has a lease, so nobody is excused for it.
TEST(Treatment, LosesWorkWithALeaseSoOftenAndNotForEver) {
  std::uint64_t lost = 0;
  for (std::uint64_t n = 0; n < kTreated; ++n)
    for (const std::string& target : kDefault) {
      const std::string id = id_of(n);
      const judge::Piece piece{id, target, 1, n};
      const auto at = [&](std::uint64_t attempt) {
        return answers(kSeed, {.id = id, .epoch = 1, .sequence = n, .attempt = attempt}, kDefault);
      };
      if (excused(kSeed, piece, true) || fails_for_good(n, target)) continue;
      EXPECT_TRUE(has_good_result(at(kAttemptsLost + 1), target)) << id << ' ' << n;
      if (!excused(kSeed, piece)) continue;
      // A target that is added late is answered at once.
      if (!has_good_result(at(kAttemptsLost), target)) ++lost;
    }
  EXPECT_GT(lost, 80U);
}

// With a lease: what fails is tried again until it is done, or given up because it says so.
TEST(Treatment, FailsSoOftenAndForGoodOnlyWhatSaysSo) {
  std::uint64_t failed = 0;
  std::uint64_t for_good = 0;
  for (std::uint64_t n = 0; n < kTreated; ++n) {
    const auto failure = [&](std::uint64_t attempt) { return failure_of(n, kDefault.front(), attempt); };
    EXPECT_EQ(failure(0), std::nullopt) << "nobody would try it again";
    const auto last = failure(kAttemptsFailed + 1);
    EXPECT_TRUE(!last || *last == FailureKind::kPermanent);
    if (last) ++for_good;
    if (failure(1)) ++failed;
    EXPECT_EQ(failure(1), failure(kAttemptsFailed));
  }
  EXPECT_GT(for_good, kTreated / 200);
  EXPECT_GT(failed, 3 * for_good);
  EXPECT_LT(failed, kTreated / 10);
}

}  // namespace
}  // namespace reseq::chaos
