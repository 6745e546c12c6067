// The checks of the end-to-end tests are tested themselves: each violation must be seen.
#include "tests/e2e/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Released released(const std::string& id, std::uint64_t sequence, std::uint64_t version) {
  WorkloadRequest request;
  request.id = id;
  request.sequence = sequence;
  return {id, sequence, version, false, request.payload(), 0};
}

const std::map<std::string, Expected> kEnd = {{"a", {2, false}}, {"b", {1, false}}};

TEST(Violations, AreNoneWhenEveryDocumentEndsAsExpected) {
  EXPECT_THAT(violations({released("a", 1, 1), released("b", 1, 2), released("a", 2, 3)}, kEnd), IsEmpty());
}

TEST(Violations, NameWhatIsMissingWrongOrUnknown) {
  EXPECT_THAT(violations({released("a", 2, 1)}, kEnd), ElementsAre(HasSubstr("b: missing")));
  EXPECT_THAT(violations({released("a", 1, 1), released("b", 1, 2)}, kEnd), ElementsAre(HasSubstr("a: ends with 1")));
  EXPECT_THAT(violations({released("a", 2, 1), released("b", 1, 2), released("c", 1, 3)}, kEnd),
              ElementsAre(HasSubstr("c: nobody asked")));
}

TEST(Violations, NameWhatIsDoubledOrReversed) {
  EXPECT_THAT(violations({released("a", 2, 1), released("a", 2, 2), released("b", 1, 3)}, kEnd),
              ElementsAre(HasSubstr("released twice")));
  EXPECT_THAT(violations({released("a", 2, 1), released("a", 1, 2), released("b", 1, 3)}, kEnd),
              testing::Contains(HasSubstr("released after 2")));
}

TEST(Violations, NameAVersionThatDoesNotRiseAndAWrongPayload) {
  EXPECT_THAT(violations({released("a", 2, 5), released("b", 1, 5)}, kEnd), ElementsAre(HasSubstr("does not rise")));
  Released wrong = released("b", 1, 6);
  wrong.payload = "other";
  EXPECT_THAT(violations({released("a", 2, 5), wrong}, kEnd), ElementsAre(HasSubstr("payload of another")));
}

TEST(Workload, IsTheSameForTheSameSeedAndRisesPerDocument) {
  const Workload one(1, 100, 3, {"x", "y"});
  const Workload same(1, 100, 3, {"x", "y"});
  const Workload other(2, 100, 3, {"x", "y"});
  ASSERT_EQ(one.requests().size(), same.requests().size());
  std::map<std::string, std::uint64_t> last;
  bool differs = one.requests().size() != other.requests().size();
  for (std::size_t i = 0; i < one.requests().size(); ++i) {
    EXPECT_EQ(one.requests()[i].id, same.requests()[i].id);
    EXPECT_GT(one.requests()[i].sequence, last[one.requests()[i].id]);
    last[one.requests()[i].id] = one.requests()[i].sequence;
    differs = differs || one.requests()[i].id != other.requests()[i].id;
  }
  EXPECT_TRUE(differs);
  EXPECT_EQ(one.end().at("x").size() + one.end().at("y").size() > 100, true);
}

}  // namespace
}  // namespace reseq::test
