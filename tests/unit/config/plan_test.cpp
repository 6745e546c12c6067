// Plans that cannot be tried again without harm are refused before anything runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "config/settings.h"

namespace reseq::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string step(const std::string& name, const std::string& next, const std::string& more = "") {
  return "[[step]]\nname = \"" + name + "\"\nnext = [" + next + "]\n" + more;
}

// With the targets `search`, and `payment`, which is potent.
std::string trouble(const std::string& steps) {
  const auto parsed = parse(
      "application.id = \"shop\"\nbootstrap.servers = \"b:9092\"\n[[target]]\nname = \"search\"\n"
      "[[target]]\nname = \"payment\"\neffect = \"potent\"\n" +
          steps,
      "s");
  return parsed.ok() ? "none" : parsed.error().message;
}

constexpr const char* kPotent = "effect = \"potent\"\n";

TEST(Plan, OfStepsThatCanBeDoneAgainIsGood) {
  EXPECT_EQ(trouble(step("extract", "\"enrich\"") +
                    step("enrich", "\"search\", \"pay\"", "effect = \"idempotent\"\nmutating = true\n") +
                    step("pay", "\"log\", \"payment\"", kPotent) + step("log", "")),
            "none");
}

TEST(Plan, NamesWhatItDoesNotKnow) {
  EXPECT_THAT(trouble(step("extract", "\"serch\"")),
              AllOf(HasSubstr("step extract"), HasSubstr("nearest one is search")));
  EXPECT_THAT(trouble(step("search", "\"payment\"")), HasSubstr("step search is named twice, or as a target"));
  EXPECT_THAT(trouble(step("a", "\"search\"") + step("a", "\"search\"")), HasSubstr("named twice"));
  EXPECT_THAT(trouble("[[step]]\nnext = [\"search\"]\n"), HasSubstr("[[step]] without a name"));
  EXPECT_THAT(trouble(step("a", "\"search\"", "effect = \"harmless\"\n")), HasSubstr("safe|idempotent|potent"));
  EXPECT_THAT(trouble(step("a", "\"search\"", "mutates = true\n")), HasSubstr("the nearest one is mutating"));
}

TEST(Plan, ThatNeverEndsIsRefused) {
  EXPECT_THAT(trouble(step("a", "\"b\"") + step("b", "\"c\", \"search\"") + step("c", "\"a\"")),
              HasSubstr("step a comes behind itself"));
  EXPECT_THAT(trouble(step("a", "\"a\"")), HasSubstr("step a comes behind itself"));
}

TEST(Plan, InWhichSomethingWouldBeDoneTwiceIsRefused) {
  EXPECT_THAT(trouble(step("pay", "\"payment\"", std::string(kPotent) + "mutating = true\n")),
              HasSubstr("step pay is potent and mutating, and goes on to payment"));
  EXPECT_THAT(trouble(step("pay", "\"log\"", kPotent) + step("log", "\"mail\", \"payment\"") +
                      step("mail", "", "effect = \"idempotent\"\n")),
              HasSubstr("step mail is idempotent and comes behind pay"));
  EXPECT_THAT(trouble(step("pay", "\"payment\"", kPotent) + step("book", "\"pay\"", kPotent)),
              HasSubstr("step pay is potent and comes behind book"));
  EXPECT_THAT(trouble(step("pay", "\"payment\", \"search\"", kPotent)),
              HasSubstr("target search is idempotent and comes behind step pay"));
  EXPECT_THAT(
      trouble("[[target]]\nname = \"ledger\"\neffect = \"potent\"\n" + step("pay", "\"payment\", \"ledger\"", kPotent)),
      HasSubstr("step pay is potent, and both payment and ledger come behind it"));
  EXPECT_THAT(trouble(step("pay", "", kPotent)), HasSubstr("no target comes behind it"));
}

}  // namespace
}  // namespace reseq::config
