// Whole histories of real projects: what the stream leaves must be what git lists, blob by blob.
#include <gtest/gtest.h>

#include "git_fixture.h"
#include "tests/support/change_streams.h"

namespace reseq::test {
namespace {

struct Expected {
  int added;
  int modified;
  int removed;
  std::size_t paths;
};

void check(const std::filesystem::path& bundle, const Expected& expected) {
  const GitFixture fixture;
  const auto repository = fixture.place("clone.git");
  GitFixture::git(fixture.place("."), {"clone", "--bare", "--quiet", bundle.string(), repository.string()});
  const auto source = open_source(repository);
  const Replayed replayed = replay(*source);
  EXPECT_EQ(object_names(replayed.documents, repository), blobs_of_head(repository));
  EXPECT_EQ(source->items_to_come(), replayed.changes.size());
  EXPECT_TRUE(replayed.unusable.empty());
  EXPECT_NEAR(replayed.added, expected.added, expected.added * 0.02);
  EXPECT_NEAR(replayed.modified, expected.modified, expected.modified * 0.02);
  EXPECT_NEAR(replayed.removed, expected.removed, expected.removed * 0.02);
  EXPECT_EQ(replayed.documents.size(), expected.paths);
}

TEST(GitBundle, OfAdvisoriesLeavesWhatGitLists) {
  RESEQ_CHANGE_STREAM(bundle, "rustsec-advisory-db.bundle");
  check(bundle, {.added = 1560, .modified = 1380, .removed = 830, .paths = 733});
}

TEST(GitBundle, OfTransitCatalogsLeavesWhatGitLists) {
  RESEQ_CHANGE_STREAM(bundle, "mobility-database-catalogs.bundle");
  check(bundle, {.added = 4546, .modified = 3882, .removed = 1112, .paths = 3434});
}

}  // namespace
}  // namespace reseq::test
