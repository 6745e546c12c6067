// What a git history says, change by change. Expected values are written down by hand; whole streams are compared with
// what git itself lists.
#include "producers/git/git_source.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tuple>

#include "git_fixture.h"

namespace reseq::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// (id, sequence, payload); no payload = delete.
using Said = std::tuple<std::string, std::uint64_t, std::optional<std::string>>;

std::vector<Said> said_by(const Replayed& replayed) {
  std::vector<Said> said;
  for (const tagging::Change& change : replayed.changes) {
    EXPECT_EQ(change.op == Op::kDelete, !change.payload.has_value()) << change.id;
    said.emplace_back(change.id, std::get<std::uint64_t>(change.sequence), change.payload);
  }
  return said;
}

Said upsert(std::string id, std::uint64_t sequence, std::string payload) {
  return {id, sequence, payload};
}
Said removal(std::string id, std::uint64_t sequence) {
  return {id, sequence, std::nullopt};
}

class GitSource : public testing::Test {
 protected:
  // The stream, checked against what git lists.
  std::vector<Said> stream_of(const History& history) {
    const auto repository = fixture_.make(history);
    replayed_ = replay(repository);
    EXPECT_EQ(object_names(replayed_.documents, repository), blobs_of_head(repository));
    return said_by(replayed_);
  }

  GitFixture fixture_;
  Replayed replayed_;
};

TEST_F(GitSource, ComparesTheRootCommitWithTheEmptyTree) {
  EXPECT_THAT(stream_of(History().commit().file("a", "1").file("b/c", "2")),
              ElementsAre(upsert("a", 1, "1"), upsert("b/c", 1, "2")));
}

TEST_F(GitSource, NumbersCommitsOfTheFirstParentChainEvenWithoutChanges) {
  EXPECT_THAT(stream_of(History().commit().file("a", "1").commit().commit().file("a", "3")),
              ElementsAre(upsert("a", 1, "1"), upsert("a", 3, "3")));
}

TEST_F(GitSource, ComparesAMergeWithItsFirstParent) {
  const History history = History()
                              .commit()
                              .file("a", "1")
                              .branch("side", "main")
                              .commit("side")
                              .file("s", "from the side")
                              .commit("side")
                              .file("s", "later")
                              .commit()
                              .file("a", "2")
                              .commit()
                              .merge("side")
                              .file("s", "merged");
  EXPECT_THAT(stream_of(history), ElementsAre(upsert("a", 1, "1"), upsert("a", 2, "2"), upsert("s", 3, "merged")));
}

TEST_F(GitSource, TellsARenameAsDeleteAndUpsertOfOneCommit) {
  EXPECT_THAT(stream_of(History().commit().file("old", "same").commit().remove("old").file("new", "same")),
              ElementsAre(upsert("old", 1, "same"), upsert("new", 2, "same"), removal("old", 2)));
}

TEST_F(GitSource, LeavesOutWhatLiesUpToACommitAndKeepsTheNumbersOfTheRest) {
  const auto repository = fixture_.make(
      History().commit().file("a", "1").gitlink("m").commit().file("a", "2").commit().commit().remove("a"));
  for (const auto& [after, changes] : {std::pair(1U, 2U), std::pair(2U, 1U), std::pair(3U, 1U), std::pair(4U, 0U)}) {
    const auto source = open_source(repository, {.after = after});
    EXPECT_EQ(source->items_to_come(), changes) << after;
    const Replayed replayed = replay(*source);
    ASSERT_EQ(replayed.changes.size(), changes) << after;
    EXPECT_EQ(replayed.gitlinks, 0U);
    if (changes > 0) {
      EXPECT_EQ(std::get<std::uint64_t>(replayed.changes.back().sequence), 4U);
    }
  }
  EXPECT_EQ(open_source(repository, {.after = 2})->stream(), "git after=2") << "its marks are of another stream";
}

TEST_F(GitSource, TellsADeleteAndALaterReAdd) {
  EXPECT_THAT(stream_of(History().commit().file("a", "1").commit().remove("a").commit().file("a", "1")),
              ElementsAre(upsert("a", 1, "1"), removal("a", 2), upsert("a", 3, "1")));
}

TEST_F(GitSource, TellsAFileThatBecomesAFolder) {
  EXPECT_THAT(stream_of(History().commit().file("a", "1").commit().remove("a").file("a/b", "2")),
              ElementsAre(upsert("a", 1, "1"), removal("a", 2), upsert("a/b", 2, "2")));
}

TEST_F(GitSource, CountsSubmodulesAndSendsOnlyTheFilesTheyReplace) {
  const History history = History()
                              .commit()
                              .gitlink("module")
                              .file("f", "file")
                              .commit()
                              .gitlink("f")
                              .commit()
                              .file("module", "a file now")
                              .file("f", "file again");
  EXPECT_THAT(stream_of(history), ElementsAre(upsert("f", 1, "file"), removal("f", 2), upsert("f", 3, "file again"),
                                              upsert("module", 3, "a file now")));
  EXPECT_EQ(replayed_.gitlinks, 1U);
}

TEST_F(GitSource, CountsASubmoduleThatGoes) {
  EXPECT_THAT(stream_of(History().commit().gitlink("m").commit().remove("m")), IsEmpty());
  EXPECT_EQ(replayed_.gitlinks, 2U);
}

TEST_F(GitSource, SendsTheTargetOfASymbolicLink) {
  EXPECT_THAT(stream_of(History().commit().file("link", "../some/where", "120000").commit().file("link", "a file")),
              ElementsAre(upsert("link", 1, "../some/where"), upsert("link", 2, "a file")));
}

TEST_F(GitSource, SendsAnEmptyBlobAsEmptyPayload) {
  EXPECT_THAT(stream_of(History().commit().file("empty", "")), ElementsAre(upsert("empty", 1, "")));
}

TEST_F(GitSource, SendsAChangeOfModeAlone) {
  EXPECT_THAT(stream_of(History().commit().file("x", "1").commit().file("x", "1", "100755")),
              ElementsAre(upsert("x", 1, "1"), upsert("x", 2, "1")));
}

TEST_F(GitSource, KeepsEveryByteOfAPath) {
  const std::vector<std::string> paths = {"\xff\xfe", "\"quoted\"", ":colon", "a\nb",
                                          "a\\b",     "a b",        "tab\t",  "\x01\x7f"};
  History history;
  history.commit();
  for (const std::string& path : paths) history.file(path, "of " + path);
  stream_of(history);
  ASSERT_EQ(replayed_.documents.size(), paths.size());
  for (const std::string& path : paths) EXPECT_EQ(replayed_.documents[path], "of " + path);
}

TEST_F(GitSource, KeepsEveryByteOfABlob) {
  std::string all;
  for (int i = 0; i < 70000; ++i) all += static_cast<char>(i % 251);
  all += std::string("\0\n\r\n", 4);
  EXPECT_THAT(stream_of(History().commit().file("bytes", all)), ElementsAre(upsert("bytes", 1, all)));
}

TEST_F(GitSource, ReportsALargeBlobAndGoesOn) {
  const auto repository = fixture_.make(
      History().commit().file("big", std::string(1001, 'x')).file("z", "1").commit().file("big", "small"));
  const Replayed replayed = replay(repository, {.blob_bytes_max = 1000});
  EXPECT_THAT(said_by(replayed), ElementsAre(upsert("z", 1, "1"), upsert("big", 2, "small")));
  ASSERT_EQ(replayed.unusable.size(), 1U);
  EXPECT_THAT(replayed.unusable[0], HasSubstr("big: the blob has 1001 bytes, at most 1000"));
}

TEST_F(GitSource, SendsABlobOfExactlyTheLimit) {
  const auto repository = fixture_.make(History().commit().file("big", std::string(1000, 'x')));
  EXPECT_EQ(replay(repository, {.blob_bytes_max = 1000}).changes.size(), 1U);
}

TEST_F(GitSource, ReportsAPathLongerThanAnIdMayBe) {
  std::string longest;
  while (longest.size() < 4094) longest += "d/";
  longest += "ff";
  ASSERT_EQ(longest.size(), 4096U);
  const auto repository = fixture_.make(History().commit().file(longest, "1").file("x" + longest, "2").file("y", "3"));
  const Replayed replayed = replay(repository);
  EXPECT_THAT(said_by(replayed), ElementsAre(upsert(longest, 1, "1"), upsert("y", 1, "3")));
  ASSERT_EQ(replayed.unusable.size(), 1U);
  EXPECT_THAT(replayed.unusable[0], HasSubstr("4097 bytes, at most 4096"));
}

TEST_F(GitSource, KnowsHowManyItemsComeAndReadsMoreThanItAsksForAhead) {
  History history;
  for (int commit = 0; commit < 150; ++commit)
    history.commit().file("f" + std::to_string(commit % 40), std::to_string(commit));
  const auto repository = fixture_.make(history);
  const auto source = open_source(repository);
  EXPECT_EQ(source->items_to_come(), 150U);
  const Replayed replayed = replay(*source);
  EXPECT_EQ(replayed.changes.size(), 150U);
  EXPECT_EQ(object_names(replayed.documents, repository), blobs_of_head(repository));
}

TEST_F(GitSource, PutsTargetsAndEpochOnEveryChange) {
  const auto repository = fixture_.make(History().commit().file("a", "1").commit().remove("a"));
  const Replayed replayed = replay(repository, {.targets = {"search"}, .epoch = Epoch(7)});
  ASSERT_EQ(replayed.changes.size(), 2U);
  for (const tagging::Change& change : replayed.changes) {
    EXPECT_THAT(change.targets, ElementsAre("search"));
    EXPECT_EQ(change.epoch, Epoch(7));
  }
}

TEST_F(GitSource, FailsAtABlobThatIsMissing) {
  const auto repository = fixture_.make(History().commit().file("a", "1").file("b", "2"));
  const std::string object = blobs_of_head(repository)["b"];
  ASSERT_TRUE(std::filesystem::remove(repository / "objects" / object.substr(0, 2) / object.substr(2)));
  const auto source = open_source(repository);
  ASSERT_TRUE(source->next().ok());
  const auto next = source->next();
  ASSERT_FALSE(next.ok());
  EXPECT_THAT(next.error().message, HasSubstr(object + " missing"));
}

TEST_F(GitSource, FailsWhenTheHistoryBreaksOff) {
  const auto repository = fixture_.make(History().commit().file("a", "1").commit().file("a", "2"));
  const std::string root = GitFixture::git(repository, {"rev-parse", "HEAD^"}).substr(0, 40);
  const auto opened = git::Repository::open(repository, "HEAD");
  ASSERT_TRUE(opened.ok());
  ASSERT_TRUE(std::filesystem::remove(repository / "objects" / root.substr(0, 2) / root.substr(2)));
  EXPECT_FALSE(git::GitSource::open(opened.value(), {}).ok());
}

}  // namespace
}  // namespace reseq::test
