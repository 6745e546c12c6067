// Going on in a git history that grew, and noticing one that was rewritten.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "git_fixture.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;

TEST(GitResume, GoesOnInAHistoryThatGrew) {
  GitFixture fixture;
  const History before = History().commit().file("a", "1").commit().file("b", "2");
  const auto source = open_source(fixture.make(before, "before.git"));
  ASSERT_EQ(replay(*source).changes.size(), 2U);

  History after = before;
  after.commit().file("a", "3").gitlink("m").commit().remove("b");
  const auto grown = open_source(fixture.make(after, "after.git"));
  ASSERT_TRUE(grown->resume_after(source->mark()).ok());
  EXPECT_EQ(grown->items_to_come(), 2U);
  const Replayed replayed = replay(*grown);
  ASSERT_EQ(replayed.changes.size(), 2U);
  EXPECT_EQ(replayed.changes[0].id, "a");
  EXPECT_EQ(std::get<std::uint64_t>(replayed.changes[0].sequence), 3U);
  EXPECT_EQ(replayed.changes[1].id, "b");
}

TEST(GitResume, GoesOnInTheMiddleOfACommit) {
  GitFixture fixture;
  const auto repository = fixture.make(History().commit().file("a", "1").file("b", "2").file("c", "3"));
  const auto first = open_source(repository);
  ASSERT_TRUE(first->next().ok());
  const auto second = open_source(repository);
  ASSERT_TRUE(second->resume_after(first->mark()).ok());
  EXPECT_EQ(replay(*second).documents, (Documents{{"b", "2"}, {"c", "3"}}));
}

TEST(GitResume, SendsNothingWhenNothingIsNew) {
  GitFixture fixture;
  const auto repository = fixture.make(History().commit().file("a", "1"));
  const auto first = open_source(repository);
  (void)replay(*first);
  const auto second = open_source(repository);
  ASSERT_TRUE(second->resume_after(first->mark()).ok());
  EXPECT_TRUE(replay(*second).changes.empty());
}

TEST(GitResume, RefusesAHistoryThatWasRewritten) {
  GitFixture fixture;
  const auto source = open_source(fixture.make(History().commit().file("a", "1").commit().file("b", "2"), "old.git"));
  (void)replay(*source);
  const auto rewritten =
      open_source(fixture.make(History().commit().file("a", "other").commit().file("b", "2"), "new.git"));
  const auto resumed = rewritten->resume_after(source->mark());
  ASSERT_FALSE(resumed.ok());
  EXPECT_THAT(resumed.error().message, HasSubstr("rewritten"));

  const auto shorter = open_source(fixture.make(History().commit().file("a", "1"), "short.git"));
  EXPECT_FALSE(shorter->resume_after(source->mark()).ok());
}

}  // namespace
}  // namespace reseq::test
