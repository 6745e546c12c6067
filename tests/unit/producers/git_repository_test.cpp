// Repositories of every shape, and those that must be refused.
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "git_fixture.h"
#include "producers/git/repository.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Repository : public testing::Test {
 protected:
  Repository() : bare_(fixture_.make(History().commit().file("a", "1").commit().file("b/c", "2"))) {}

  std::filesystem::path clone(const std::string& name, std::vector<std::string> options) {
    std::vector<std::string> arguments = {"clone", "--quiet"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"file://" + bare_.string(), fixture_.place(name).string()});
    GitFixture::git(bare_, arguments);
    return fixture_.place(name);
  }

  GitFixture fixture_;
  std::filesystem::path bare_;
};

std::string repository_refusal(const std::filesystem::path& path, const std::string& revision = "HEAD") {
  const auto opened = git::Repository::open(path, revision);
  return opened.ok() ? "" : opened.error().message;
}

TEST_F(Repository, IsReadWhereverItIsEntered) {
  const auto clone_path = clone("clone", {});
  GitFixture::git(clone_path, {"worktree", "add", "--quiet", "--detach", fixture_.place("linked").string()});
  for (const auto& path : {bare_, clone_path, clone_path / "b", fixture_.place("linked")}) {
    const Replayed replayed = replay(path);
    EXPECT_EQ(replayed.documents, (Documents{{"a", "1"}, {"b/c", "2"}})) << path;
  }
}

TEST_F(Repository, IsReadUpToTheRevisionThatIsAskedFor) {
  EXPECT_EQ(replay(*open_source(bare_, {}, "main~1")).documents, (Documents{{"a", "1"}}));
}

TEST_F(Repository, TellsThePlaceOfItsCommitsAndOfNoOther) {
  const auto bare = fixture_.make(History()
                                      .commit()
                                      .file("a", "1")
                                      .branch("side", "main")
                                      .commit("side")
                                      .file("s", "2")
                                      .commit()
                                      .file("a", "3")
                                      .commit()
                                      .merge("side")
                                      .file("s", "2"),
                                  "places.git");
  const auto opened = git::Repository::open(bare, "main");
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened.value().place_of("main").value(), 3U);
  EXPECT_EQ(opened.value().place_of("main~2").value(), 1U);
  for (const char* foreign : {"side", "no-such-commit"}) {
    const auto place = opened.value().place_of(foreign);
    ASSERT_FALSE(place.ok()) << foreign;
    EXPECT_THAT(place.error().message, HasSubstr(foreign));
  }
  const auto older = git::Repository::open(bare, "main~1");
  ASSERT_TRUE(older.ok());
  EXPECT_FALSE(older.value().place_of("main").ok()) << "a later one";
}

TEST_F(Repository, IsNotChangedByVariablesOfAnotherOne) {
  ASSERT_EQ(::setenv("GIT_DIR", "/nowhere", 1), 0);
  const std::string refused = repository_refusal(bare_);
  ::unsetenv("GIT_DIR");
  EXPECT_EQ(refused, "");
}

TEST_F(Repository, IsNotChangedBySettingsOfTheUser) {
  for (const char* setting : {"diff.renames", "diff.noprefix", "log.showSignature", "diff.mnemonicPrefix"})
    GitFixture::git(bare_, {"config", setting, "true"});
  GitFixture::git(bare_, {"config", "log.showRoot", "false"});
  GitFixture::git(bare_, {"config", "color.ui", "always"});
  EXPECT_EQ(replay(bare_).changes.size(), 2U);
}

TEST_F(Repository, IsDeepenedWhenItIsAShallowClone) {
  const auto shallow = clone("shallow", {"--depth", "1"});
  ASSERT_EQ(GitFixture::git(shallow, {"rev-list", "--count", "HEAD"}), "1\n");
  EXPECT_EQ(replay(shallow).changes.size(), 2U);
  EXPECT_EQ(GitFixture::git(shallow, {"rev-list", "--count", "HEAD"}), "2\n");
}

TEST_F(Repository, IsRefusedWhenItIsShallowWithoutARemote) {
  const auto shallow = clone("shallow", {"--depth", "1"});
  GitFixture::git(shallow, {"remote", "remove", "origin"});
  EXPECT_THAT(repository_refusal(shallow), HasSubstr("shallow clone"));
  EXPECT_THAT(repository_refusal(shallow), HasSubstr("git fetch --unshallow"));
}

TEST_F(Repository, IsRefusedInOneLineWhenTheRemoteIsGone) {
  const auto shallow = clone("shallow", {"--depth", "1"});
  std::filesystem::remove_all(bare_);
  EXPECT_THAT(repository_refusal(shallow), HasSubstr("git fetch --unshallow"));
  EXPECT_THAT(repository_refusal(shallow), Not(HasSubstr("\n")));
}

TEST_F(Repository, IsRefusedWhenItIsNone) {
  std::filesystem::create_directory(fixture_.place("empty"));
  EXPECT_THAT(repository_refusal(fixture_.place("empty")), HasSubstr("not a git repository"));
  EXPECT_THAT(repository_refusal(fixture_.place("absent")), HasSubstr("No such file"));
}

TEST_F(Repository, IsRefusedWithoutTheCommit) {
  EXPECT_THAT(repository_refusal(bare_, "absent"), HasSubstr("no commit 'absent'"));
  EXPECT_THAT(repository_refusal(bare_, "--all"), HasSubstr("no commit '--all'"));
  EXPECT_THAT(repository_refusal(fixture_.make(History(), "unborn.git")), HasSubstr("no commit 'HEAD'"));
}

}  // namespace
}  // namespace reseq::test
