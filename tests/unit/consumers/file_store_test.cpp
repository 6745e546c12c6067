// The files target: whole files, newer only, deletes remembered, nothing outside its folder, right after a kill at any
// moment.
#include "consumers/files/file_store.h"

#include <cctype>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "consumers/files/file_name.h"
#include "consumers/files/listing.h"
#include "tests/unit/consumers/changes.h"

namespace reseq::files {
namespace {

namespace fs = std::filesystem;
using sink::Applied;
using sink::Change;
using sink::Check;
using sink::marker;
using sink::removal;
using sink::upsert;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

using Documents = std::map<std::string, std::string>;

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

class FileStoreTest : public ::testing::Test {
 protected:
  FileStoreTest() {
    std::string pattern = (fs::temp_directory_path() / "reseq-files-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileStoreTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string directory() const { return (folder_ / "catalogue").string(); }
  std::unique_ptr<FileStore> open(Check check = Check::kVersions) {
    auto store = FileStore::open(directory(), {.topic = "app.output.catalogue", .check = check});
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    return std::move(store).value();
  }
  // Every file there is below documents/, by its name alone: what a reader sees who knows nothing of the index.
  [[nodiscard]] Documents files() const { return files_below("documents"); }
  // The notes of what failed.
  [[nodiscard]] Documents failed() const { return files_below("failed"); }
  [[nodiscard]] Documents files_below(const std::string& name) const {
    Documents found;
    if (!fs::exists(fs::path(directory()) / name)) return found;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(directory()) / name))
      if (entry.is_regular_file()) found[entry.path().filename()] = content_of(entry.path());
    return found;
  }
  std::string listed(const std::optional<std::string>& id = std::nullopt, Listed what = Listed::kDocuments) {
    std::FILE* out = std::tmpfile();
    EXPECT_TRUE(list_documents(directory(), what, id, out).ok());
    std::rewind(out);
    std::string text;
    for (int letter = std::fgetc(out); letter != EOF; letter = std::fgetc(out)) text += static_cast<char>(letter);
    std::fclose(out);
    return text;
  }
  fs::path folder_;
};

std::string note(const std::string& error) {
  return R"({"reason":"failed","error":")" + error + R"(","attempts":3})" + "\n";
}
void apply_all(FileStore& store, const std::vector<Change>& changes) {
  ASSERT_TRUE(store.begin().ok());
  for (const Change& change : changes) ASSERT_TRUE(store.apply(change).ok());
  ASSERT_TRUE(store.commit().ok());
}

TEST_F(FileStoreTest, WritesOnlyStrictlyNewerVersions) {
  const auto store = open();
  ASSERT_TRUE(store->begin().ok());
  EXPECT_EQ(store->apply(upsert("a", 5, "five")).value(), Applied::kWritten);
  EXPECT_EQ(store->apply(upsert("a", 4, "four")).value(), Applied::kNotNewer);
  EXPECT_EQ(store->apply(upsert("a", 5, "five again")).value(), Applied::kNotNewer);
  EXPECT_EQ(store->apply(removal("a", 3)).value(), Applied::kNotNewer);
  ASSERT_TRUE(store->commit().ok());
  EXPECT_THAT(files(), ElementsAre(Pair("a", "five")));
  apply_all(*store, {upsert("a", 6, "six")});
  EXPECT_THAT(files(), ElementsAre(Pair("a", "six")));
}

TEST_F(FileStoreTest, RemembersADeleteSoThatAnOlderReleaseCannotBringItBack) {
  const auto store = open();
  apply_all(*store, {upsert("a", 5, "text"), removal("a", 7), upsert("a", 6, "late"), removal("never seen", 9),
                     upsert("never seen", 8, "late")});
  EXPECT_THAT(files(), IsEmpty());
  apply_all(*store, {upsert("a", 8, "again")});
  EXPECT_THAT(files(), ElementsAre(Pair("a", "again")));
}

TEST_F(FileStoreTest, WithoutCheckTheLastWriteWins) {
  const auto store = open(Check::kOff);
  apply_all(*store, {upsert("a", 0, "new"), upsert("a", 0, "old"), removal("b", 0), upsert("b", 0, "resurrected")});
  EXPECT_THAT(files(), ElementsAre(Pair("a", "old"), Pair("b", "resurrected")));
}

TEST_F(FileStoreTest, NoIdLeavesTheDirectory) {
  const std::vector<std::string> hostile = {"../../etc/passwd",
                                            "..",
                                            ".",
                                            "/",
                                            "/tmp/x",
                                            std::string("nul\0byte", 8),
                                            "new\nline",
                                            "-rf",
                                            "~",
                                            "%2f",
                                            "con",
                                            "a/../../../b",
                                            "\\",
                                            "*",
                                            " ",
                                            "\xff\xfe",
                                            std::string(4096, '/'),
                                            std::string(4096, '.'),
                                            std::string(4095, 'x') + "/"};
  const auto store = open();
  ASSERT_TRUE(store->begin().ok());
  std::uint64_t version = 0;
  for (const std::string& id : hostile) {
    const Result<Applied> applied = store->apply(upsert(id, ++version, id));
    ASSERT_TRUE(applied.ok()) << id << ": " << (applied.ok() ? "" : applied.error().message);
  }
  ASSERT_TRUE(store->commit().ok());
  EXPECT_EQ(files().size(), hostile.size());
  for (const std::string& id : hostile)
    EXPECT_EQ(content_of(fs::path(directory()) / "documents" / file_name(id, 1)), id);
  std::vector<std::string> beside;
  for (const auto& entry : fs::directory_iterator(folder_)) beside.push_back(entry.path().filename());
  EXPECT_THAT(beside, ElementsAre("catalogue"));
}

TEST_F(FileStoreTest, IdsThatDifferInCaseOnlyAreNamesThatDifferInMore) {
  const auto store = open();
  apply_all(*store, {upsert("Readme", 1, "one"), upsert("readme", 2, "two"), upsert("README", 3, "three")});
  std::set<std::string> folded;
  for (const auto& [name, content] : files()) {
    std::string lower = name;
    for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    folded.insert(lower);
  }
  EXPECT_EQ(folded.size(), 3U);
}

TEST_F(FileStoreTest, AnotherIdWithTheNameOfALongOneDoesNotGetItsFile) {
  const std::string id(400, 'z');
  const auto store = open();
  {
    auto index = sqlite::Database::open(directory() + "/index.db", sqlite::Database::Mode::kCreate);
    const std::string row = "INSERT INTO documents VALUES(x'00', '1', 1, 0, '" + file_name(id, 1) + "', NULL)";
    ASSERT_TRUE(index.value().execute(row.c_str()).ok());
  }
  apply_all(*store, {upsert(id, 1, "its own")});
  EXPECT_THAT(files(), ElementsAre(Pair(fs::path(file_name(id, 2)).filename(), "its own")));
  apply_all(*store, {upsert(id, 2, "newer")});
  EXPECT_THAT(files(), ElementsAre(Pair(fs::path(file_name(id, 2)).filename(), "newer")));
}

TEST_F(FileStoreTest, ListsWhichFileADocumentIsIn) {
  const auto store = open();
  apply_all(*store, {upsert("b/B", 7, "x"), upsert("\xff", 8, ""), upsert("gone", 9, "x"), removal("gone", 10)});
  EXPECT_EQ(listed(), "{\"id\":\"b/B\",\"seq\":\"1\",\"version\":\"7\",\"file\":\"documents/" + file_name("b/B", 1) +
                          "\"}\n{\"id_base64\":\"/w==\",\"seq\":\"1\",\"version\":\"8\",\"file\":\"documents/" +
                          file_name("\xff", 1) + "\"}\n");
  EXPECT_THAT(listed("b/B"), HasSubstr("\"version\":\"7\""));
  EXPECT_EQ(listed("gone"), "");
  EXPECT_FALSE(list_documents((folder_ / "nowhere").string(), Listed::kDocuments, std::nullopt, stdout).ok());
}

TEST_F(FileStoreTest, KeepsTheNoteOfWhatFailedApartFromDocuments) {
  const std::string id(400, 'z');
  const auto store = open();
  apply_all(*store,
            {upsert("a", 1, "one"), upsert("b", 2, "two"), marker("a", 3, "not a PDF"), marker(id, 4, "locked")});
  EXPECT_THAT(files(), ElementsAre(Pair("b", "two")));
  EXPECT_THAT(failed(),
              ElementsAre(Pair("a", note("not a PDF")), Pair(fs::path(file_name(id, 1)).filename(), note("locked"))));
  EXPECT_EQ(listed("a"), "");
  EXPECT_EQ(listed("a", Listed::kFailed),
            R"({"id":"a","seq":"3","version":"3","error":"not a PDF","file":"failed/)" + file_name("a", 1) + "\"}\n");
  EXPECT_EQ(listed("b", Listed::kFailed), "");
  EXPECT_THAT(listed(std::nullopt, Listed::kFailed), HasSubstr("\"error\":\"locked\""));
  EXPECT_THAT(listed(), ::testing::Not(HasSubstr("error")));
}

TEST_F(FileStoreTest, ReplacesAMarkerByWhatIsNewerOnly) {
  const auto store = open();
  ASSERT_TRUE(store->begin().ok());
  EXPECT_EQ(store->apply(marker("a", 5, "first")).value(), Applied::kWritten);
  EXPECT_EQ(store->apply(upsert("a", 4, "late")).value(), Applied::kNotNewer);
  EXPECT_EQ(store->apply(removal("a", 4)).value(), Applied::kNotNewer);
  EXPECT_EQ(store->apply(marker("a", 5, "again")).value(), Applied::kNotNewer);
  ASSERT_TRUE(store->commit().ok());
  EXPECT_THAT(failed(), ElementsAre(Pair("a", note("first"))));
  apply_all(*store, {marker("a", 6, "second")});
  EXPECT_THAT(failed(), ElementsAre(Pair("a", note("second"))));
  apply_all(*store, {upsert("a", 7, "back")});
  EXPECT_THAT(files(), ElementsAre(Pair("a", "back")));
  EXPECT_THAT(failed(), IsEmpty());
  EXPECT_EQ(listed(std::nullopt, Listed::kFailed), "");
  apply_all(*store, {marker("a", 8, "third"), removal("a", 9), marker("a", 8, "late")});
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_THAT(failed(), IsEmpty());
  EXPECT_EQ(listed(std::nullopt, Listed::kFailed), "");
}

// The log may be compacted between a kill and the next start: of several records of a document the newest one is left.
TEST_F(FileStoreTest, TakesAwayWhatABatchLeftThatIsNotReadAgain) {
  {
    const auto store = open();
    apply_all(*store, {upsert("failed", 1, "old"), upsert("deleted", 2, "old")});
    ASSERT_TRUE(store->begin().ok());
    for (const char* id : {"back", "deleted"}) ASSERT_TRUE(store->apply(marker(id, 3, "not a PDF")).ok());
    ASSERT_TRUE(store->apply(upsert("failed", 4, "new")).ok());
  }
  apply_all(*open(), {upsert("back", 5, "text"), removal("deleted", 6), marker("failed", 7, "locked")});
  EXPECT_THAT(files(), ElementsAre(Pair("back", "text")));
  EXPECT_THAT(failed(), ElementsAre(Pair("failed", note("locked"))));
}

TEST_F(FileStoreTest, GivesAnIndexOfAnOlderVersionTheColumnOfErrors) {
  fs::create_directories(directory());
  {
    auto index = sqlite::Database::open(directory() + "/index.db", sqlite::Database::Mode::kCreate);
    ASSERT_TRUE(index.value()
                    .execute("CREATE TABLE documents("
                             "  id BLOB PRIMARY KEY, seq TEXT, version INTEGER, deleted INTEGER, file TEXT NOT NULL "
                             "UNIQUE)")
                    .ok());
  }
  EXPECT_EQ(listed(std::nullopt, Listed::kFailed), "") << "also before a sink has opened it";
  open();
  apply_all(*open(), {marker("a", 6, "not a PDF")});
  EXPECT_THAT(listed("a", Listed::kFailed), HasSubstr("not a PDF"));
}

TEST_F(FileStoreTest, RefusesADirectoryOfAnotherTopicOrCheckOrProcess) {
  {
    const auto store = open();
    const auto second = FileStore::open(directory(), {.topic = "app.output.catalogue"});
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().what_to_do, ErrorClass::kInvalid);
    EXPECT_THAT(second.error().message, HasSubstr("another process writes to"));
  }
  const auto other_topic = FileStore::open(directory(), {.topic = "other"});
  ASSERT_FALSE(other_topic.ok());
  EXPECT_EQ(other_topic.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(other_topic.error().message, HasSubstr("topic app.output.catalogue, not other"));
  EXPECT_FALSE(FileStore::open(directory(), {.topic = "app.output.catalogue", .check = Check::kOff}).ok());
  EXPECT_FALSE(FileStore::open("/proc/no/such/place", {.topic = "t"}).ok());
  open();
}

// A batch that is never committed leaves files ahead of the index. Whatever part of the log comes next, in whichever
// order of partitions: the files are those of the log.
TEST_F(FileStoreTest, FilesAheadOfTheIndexAreMadeRightByReadingAgain) {
  {
    const auto store = open();
    apply_all(*store, {upsert("kept", 1, "kept"), upsert("changed", 2, "old"), upsert("deleted", 3, "old")});
    ASSERT_TRUE(store->begin().ok());
    ASSERT_TRUE(store->apply(upsert("changed", 4, "new")).ok());
    ASSERT_TRUE(store->apply(removal("deleted", 5)).ok());
    ASSERT_TRUE(store->apply(upsert("made", 6, "new")).ok());
    ASSERT_TRUE(store->apply(upsert("fleeting", 7, "new")).ok());
    ASSERT_TRUE(store->apply(removal("fleeting", 8)).ok());
    ASSERT_TRUE(store->set_position(Partition(0), Offset(9)).ok());
  }
  const auto store = open();
  EXPECT_THAT(store->positions().value(), IsEmpty());
  EXPECT_THAT(listed("changed"), HasSubstr("\"version\":\"2\""));
  apply_all(*store, {upsert("made", 6, "new"), upsert("fleeting", 7, "new"), removal("fleeting", 8),
                     upsert("changed", 4, "new"), removal("deleted", 5)});
  EXPECT_THAT(files(), ElementsAre(Pair("changed", "new"), Pair("kept", "kept"), Pair("made", "new")));
}

// A log in which documents come, change and go.
std::vector<Change> changing_log(const std::vector<std::string>& payloads) {
  static const std::vector<std::string> kIds = {"a", "A", "../b", std::string(500, 'c'), "d", "e"};
  std::mt19937_64 random(7);
  std::vector<Change> log;
  for (std::uint64_t version = 1; version < payloads.size(); ++version) {
    const std::string& id = kIds[random() % kIds.size()];
    const bool is_last = version + 1 == payloads.size();
    const auto kind = is_last ? 2 : random() % 8;
    log.push_back(kind < 2    ? removal(id, version)
                  : kind == 2 ? marker(id, version, payloads[version])
                              : upsert(id, version, payloads[version]));
  }
  return log;
}

// As a sink does it: batches of 7 from the position on. Ends by SIGKILL while it is at it.
[[noreturn]] void write_until_killed(const std::string& directory, const std::vector<Change>& log) {
  auto opened = FileStore::open(directory, {.topic = "t"});
  if (!opened) ::_exit(1);
  FileStore& store = *opened.value();
  const auto positions = store.positions().value();
  auto next = positions.empty() ? 0 : static_cast<std::size_t>(positions.begin()->second.value());
  bool good = true;
  while (good && next < log.size()) {
    good = store.begin().ok();
    for (int i = 0; good && i < 7 && next < log.size(); ++i) good = store.apply(log[next++]).ok();
    good =
        good && store.set_position(Partition(0), Offset(static_cast<std::int64_t>(next))).ok() && store.commit().ok();
  }
  ::_exit(good ? 0 : 1);
}

TEST_F(FileStoreTest, IsRightAfterKillsAtAnyMoment) {
  std::vector<std::string> payloads;
  for (int version = 0; version <= 4'000; ++version)
    payloads.push_back(std::string(500, 'p') + std::to_string(version));
  const std::vector<Change> log = changing_log(payloads);
  Documents expected, expected_failed;
  for (const Change& change : log) {
    const std::string name = fs::path(file_name(change.id, 1)).filename();
    expected.erase(name);
    expected_failed.erase(name);
    if (change.op == sink::ChangeOp::kUpsert) expected[name] = *change.payload;
    if (change.op == sink::ChangeOp::kFailed) expected_failed[name] = note(std::string(*change.error));
  }
  std::mt19937_64 random(3);
  int kills = 0, status = 0;
  for (bool finished = false; !finished;) {
    const ::pid_t child = ::fork();
    if (child == 0) write_until_killed(directory(), log);
    // The first twenty are killed at a random moment, whoever comes then may end.
    if (kills < 20) {
      ::usleep(static_cast<::useconds_t>(random() % 20'000));
      ::kill(child, SIGKILL);
    }
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    finished = WIFEXITED(status);
    kills += finished ? 0 : 1;
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_GT(kills, 0);
  EXPECT_EQ(files(), expected);
  EXPECT_EQ(failed(), expected_failed);
}

TEST_F(FileStoreTest, ADiskThatTakesNoMoreStopsTheSinkAndHarmsNoDocument) {
  const auto store = open();
  apply_all(*store, {upsert("a", 1, "small")});
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit tight = before;
  tight.rlim_cur = 1'000'000;
  ::setrlimit(RLIMIT_FSIZE, &tight);
  ASSERT_TRUE(store->begin().ok());
  const std::string large(2'000'000, 'x');
  const Result<Applied> failed = store->apply(upsert("a", 2, large));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().what_to_do, ErrorClass::kFatal);
  EXPECT_THAT(failed.error().message, HasSubstr("File too large"));
  EXPECT_THAT(files(), ElementsAre(Pair("a", "small")));
}

}  // namespace
}  // namespace reseq::files
