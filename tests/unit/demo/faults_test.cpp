// What the demo's workers cannot do, and what a history says must fail.
#include "demo/pipeline/faults.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "demo/compare/history.h"
#include "demo/run/known_faults.h"
#include "tests/unit/demo/repository.h"

namespace reseq::demo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Seed kSeed{1};

// A document of which only its number is known: the first one that this is true of.
template <typename Is>
std::string document_that(const Is& is) {
  for (int i = 0;; ++i)
    if (std::string id = "document-" + std::to_string(i); is(id)) return id;
}

class FaultsTest : public ::testing::Test {
 protected:
  FaultsTest() { set("up"); }
  void set(const std::string& word) { std::ofstream(file()) << word << "\n"; }
  [[nodiscard]] std::string file() const { return folder_.path() + "/engine"; }
  [[nodiscard]] std::string said(const Task& task) const {
    const auto failure = Faults(kSeed, file()).of(task);
    if (!failure) return "nothing";
    const char* const kinds[] = {"unknown", "transient", "permanent"};
    return std::string(kinds[static_cast<std::size_t>(failure->kind)]) +
           (failure->scope == FailureScope::kUniversal ? ", universal: " : ": ") + failure->error;
  }
  Repository folder_;
};

TEST_F(FaultsTest, NothingFailsUnlessItIsAskedFor) {
  const std::string id = document_that([](const auto& one) { return throws(kSeed, "search", one); });
  EXPECT_FALSE(Faults(kSeed, "").of({.target = "search", .id = id, .sequence = "1", .payload = "text"}));
}

TEST_F(FaultsTest, AFileThatIsNoJsonFailsForGoodForBothTargets) {
  for (const char* target : {"search", "catalogue"})
    EXPECT_EQ(said({.target = target, .id = "a.json", .sequence = "1", .payload = "{\n \"a\": 1\n]"}),
              "permanent: no JSON: parse error at line 3, column 1");
  EXPECT_FALSE(unreadable("search", "a.json", "{}"));
  EXPECT_FALSE(unreadable("search", "a.txt", "{"));
}

TEST_F(FaultsTest, AFileThatIsNoTextFailsForTheIndexAlone) {
  const std::string_view picture("PNG\0", 4);
  EXPECT_TRUE(unreadable("search", "a.png", picture));
  EXPECT_FALSE(unreadable("catalogue", "a.png", picture));
}

TEST_F(FaultsTest, OnlySearchNeedsItsEngine) {
  const std::string id = document_that([](const auto& one) {
    return !throws(kSeed, "search", one) && !throws(kSeed, "catalogue", one) &&
           locked_attempts(kSeed, "search", one, "1") + locked_attempts(kSeed, "catalogue", one, "1") == 0;
  });
  const Task search{.target = "search", .id = id, .sequence = "1", .payload = "text"};
  const Task catalogue{.target = "catalogue", .id = id, .sequence = "1", .payload = "text"};
  const Task deletion{.target = "search", .id = id, .sequence = "1"};
  EXPECT_EQ(said(search), "nothing");
  set("down");
  EXPECT_EQ(said(search), "transient, universal: connection refused");
  EXPECT_EQ(said(deletion), "transient, universal: connection refused");
  EXPECT_EQ(said(catalogue), "nothing");
  set("no-index");
  EXPECT_EQ(said(search), "permanent, universal: there is no index");
  EXPECT_EQ(said(catalogue), "nothing");
}

TEST_F(FaultsTest, AnExceptionIsTheSameAtEveryAttempt) {
  const std::string id = document_that([](const auto& one) { return throws(kSeed, "catalogue", one); });
  for (const std::uint32_t attempt : {1U, 2U, 9U})
    EXPECT_EQ(said({.target = "catalogue", .id = id, .sequence = "7", .attempt = attempt, .payload = "text"}),
              "unknown: exception: index 7 is out of range");
  EXPECT_EQ(said({.target = "catalogue", .id = id, .sequence = "7"}), "nothing") << "of a deletion";
}

TEST_F(FaultsTest, ALockIsGoneAtTheThirdAttempt) {
  const std::string id = document_that([](const auto& one) {
    return !throws(kSeed, "catalogue", one) && locked_attempts(kSeed, "catalogue", one, "7") == 2;
  });
  const auto at = [&](std::uint32_t attempt) {
    return said({.target = "catalogue", .id = id, .sequence = "7", .attempt = attempt, .payload = "text"});
  };
  EXPECT_EQ(at(1), "transient: the document is locked");
  EXPECT_EQ(at(2), "transient: the document is locked");
  EXPECT_EQ(at(3), "nothing");
}

TEST(Faults, MeetSomeAndNotMost) {
  int thrown = 0, locked = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string id = "document-" + std::to_string(i);
    thrown += throws(kSeed, "search", id) ? 1 : 0;
    locked += locked_attempts(kSeed, "search", id, "1") > 0 ? 1 : 0;
  }
  EXPECT_NEAR(thrown, 200, 60);
  EXPECT_NEAR(locked, 600, 100);
}

std::string told(const Result<std::vector<PathChange>>& changes) {
  if (!changes) return changes.error().message;
  std::string text;
  for (const PathChange& change : changes.value())
    text += std::to_string(change.commit) + " " + change.path + (change.blob.empty() ? " removed; " : "; ");
  return text;
}

TEST(History, HasEveryChangeOfEveryCommitAndCountsEmptyOnes) {
  Repository repository;
  repository.write("a", "1");
  repository.write("folder/b", "1");
  repository.commit();
  repository.commit();
  repository.write("a", "2");
  std::filesystem::remove(repository.path() + "/folder/b");
  repository.commit();
  EXPECT_EQ(told(read_history(repository.path(), "HEAD")), "1 a; 1 folder/b; 3 a; 3 folder/b removed; ");
}

TEST(History, OfSomethingElseIsRefused) {
  EXPECT_FALSE(parse_history(std::string_view(":100644 100644 a b M\0path\0", 26)).ok()) << "a change of no commit";
  EXPECT_FALSE(parse_history(std::string_view("abc\0\0:100644 100644\0path\0", 25)).ok());
  EXPECT_FALSE(read_history("/no/such/repository", "HEAD").ok());
}

class KnownFaultsTest : public ::testing::Test {
 protected:
  KnownFaultsTest() {
    repository_.write("broken.json", "{}");
    repository_.write("repaired.json", "{");
    repository_.commit();
    repository_.write("broken.json", "{");
    repository_.write("repaired.json", "[]");
    repository_.write("picture", std::string("\0", 1));
    repository_.commit();
    settings_.repository = repository_.path();
    settings_.work_folder = folder_.path();
    tree_ = read_tree(repository_.path(), "HEAD").value();
  }
  Repository repository_, folder_;
  Settings settings_;
  GitTree tree_;
};

TEST_F(KnownFaultsTest, AreTheVersionsThatNobodyCanReadAndWhatIsLeftOfThemInTheEnd) {
  const auto faults = KnownFaults::read(settings_, "HEAD");
  ASSERT_TRUE(faults.ok());
  EXPECT_EQ(faults.value().changes(), 5U);
  EXPECT_THAT(faults.value().commits_with_broken_files(), ElementsAre(1, 2));
  EXPECT_THAT(faults.value().broken_files(2), ElementsAre("broken.json"));
  EXPECT_TRUE(faults.value().fails({"catalogue", "repaired.json"}, 1));
  EXPECT_FALSE(faults.value().fails({"catalogue", "repaired.json"}, 2));
  std::vector<std::string> failing;
  for (const TargetDocument& one : faults.value().failing(tree_)) failing.push_back(one.target + " " + one.id);
  EXPECT_THAT(failing, ElementsAre("catalogue broken.json", "search broken.json", "search picture"));
}

}  // namespace
}  // namespace reseq::demo
