// The sink's table: newer only, deletes remembered, replays harmless, positions in the same transaction.
#include "consumers/sqlite/document_store.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/consumers/changes.h"

namespace reseq::sqlite {
namespace {

namespace fs = std::filesystem;
using sink::Applied;
using sink::Change;
using sink::Check;
using sink::marker;
using sink::removal;
using sink::upsert;

class DocumentStoreTest : public ::testing::Test {
 protected:
  DocumentStoreTest() {
    std::string pattern = (fs::temp_directory_path() / "reseq-store-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~DocumentStoreTest() override { fs::remove_all(folder_); }

  std::unique_ptr<DocumentStore> open(Check check = Check::kVersions, const std::string& name = "search.db",
                                      const std::string& topic = "app.output.search") {
    auto store = DocumentStore::open(file(name), {.topic = topic, .check = check});
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    return std::move(store).value();
  }
  [[nodiscard]] std::string file(const std::string& name = "search.db") const { return (folder_ / name).string(); }

  // All rows of a query, columns joined by |, NULL as -.
  std::string rows(const std::string& sql, const std::string& name = "search.db") {
    auto database = Database::open(file(name), Database::Mode::kReadOnly);
    auto statement = database.value().prepare(sql);
    EXPECT_TRUE(statement.ok()) << (statement.ok() ? "" : statement.error().message);
    std::string text;
    while (statement.value().step().value()) {
      for (int column = 0; column < columns(sql); ++column)
        text += std::string(column == 0 ? "" : "|") + std::string(statement.value().bytes(column).value_or("-"));
      text += "\n";
    }
    return text;
  }
  std::string documents(const std::string& name = "search.db") {
    return rows("SELECT id, seq, version, deleted, payload FROM documents ORDER BY id", name);
  }
  std::string search(const std::string& words) {
    return rows("SELECT id FROM documents_fts WHERE documents_fts MATCH '" + words + "' ORDER BY id");
  }

 private:
  static int columns(const std::string& sql) {
    const std::string list = sql.substr(0, sql.find(" FROM"));
    return 1 + static_cast<int>(std::count(list.begin(), list.end(), ','));
  }
  fs::path folder_;
};

void apply_all(DocumentStore& store, const std::vector<Change>& changes) {
  ASSERT_TRUE(store.begin().ok());
  for (const Change& change : changes) ASSERT_TRUE(store.apply(change).ok());
  ASSERT_TRUE(store.commit().ok());
}

TEST_F(DocumentStoreTest, WritesOnlyStrictlyNewerVersions) {
  const auto store = open();
  ASSERT_TRUE(store->begin().ok());
  EXPECT_EQ(store->apply(upsert("a", 5, "five")).value(), Applied::kWritten);
  EXPECT_EQ(store->apply(upsert("a", 4, "four")).value(), Applied::kNotNewer);
  EXPECT_EQ(store->apply(upsert("a", 5, "five again")).value(), Applied::kNotNewer);
  ASSERT_TRUE(store->commit().ok());
  EXPECT_EQ(documents(), "a|1|5|0|five\n");
  ASSERT_TRUE(store->begin().ok());
  EXPECT_EQ(store->apply(upsert("a", 6, "six")).value(), Applied::kWritten);
  ASSERT_TRUE(store->commit().ok());
  EXPECT_EQ(documents(), "a|1|6|0|six\n");
}

TEST_F(DocumentStoreTest, RemembersADeleteSoThatAnOlderReleaseCannotBringItBack) {
  const auto store = open();
  apply_all(*store, {upsert("a", 5, "text"), removal("a", 7), upsert("a", 6, "late")});
  EXPECT_EQ(documents(), "a|2|7|1|-\n");
  EXPECT_EQ(search("text OR late"), "");
  apply_all(*store, {upsert("a", 8, "again")});
  EXPECT_EQ(documents(), "a|1|8|0|again\n");
}

TEST_F(DocumentStoreTest, RemembersTheDeleteOfADocumentItNeverSaw) {
  const auto store = open();
  apply_all(*store, {removal("a", 7), upsert("a", 6, "late")});
  EXPECT_EQ(documents(), "a|2|7|1|-\n");
}

TEST_F(DocumentStoreTest, WithoutCheckTheLastWriteWins) {
  const auto store = open(Check::kOff);
  apply_all(*store, {upsert("a", 0, "new"), upsert("a", 0, "old"), removal("b", 0), upsert("b", 0, "resurrected")});
  EXPECT_EQ(documents(), "a|1|0|0|old\nb|1|0|0|resurrected\n");
  apply_all(*store, {removal("a", 0)});
  EXPECT_EQ(documents(), "a|2|0|1|-\nb|1|0|0|resurrected\n");
}

TEST_F(DocumentStoreTest, FindsWordsOfTheCurrentPayloadOnly) {
  const auto store = open();
  apply_all(*store, {upsert("a", 1, "red apple"), upsert("b", 2, "green apple"), upsert("a", 3, "red cherry")});
  EXPECT_EQ(search("apple"), "b\n");
  EXPECT_EQ(search("cherry"), "a\n");
  apply_all(*store, {removal("b", 4)});
  EXPECT_EQ(search("apple"), "");
}

// The query of docs/failures.md.
constexpr const char* kNotIndexed = "SELECT id, error FROM documents WHERE error IS NOT NULL";

TEST_F(DocumentStoreTest, TellsWhatIsNotIndexedAndWhy) {
  const auto store = open();
  apply_all(*store, {upsert("a", 1, "red apple"), upsert("b", 2, "green apple"), marker("a", 3, "not a PDF"),
                     marker("never-there", 4, "locked")});
  EXPECT_EQ(rows(kNotIndexed), "a|not a PDF\nnever-there|locked\n");
  EXPECT_EQ(search("apple"), "b\n") << "what was there before is replaced";
  EXPECT_EQ(search("failed OR PDF OR locked"), "") << "a note is no document";
  EXPECT_EQ(rows("SELECT id FROM documents WHERE deleted = 0"), "b\n");
  EXPECT_EQ(rows("SELECT payload FROM documents WHERE id = CAST('a' AS BLOB)"),
            R"({"reason":"failed","error":"not a PDF","attempts":3})"
            "\n");
}

TEST_F(DocumentStoreTest, ReplacesAMarkerByWhatIsNewerOnly) {
  const auto store = open();
  ASSERT_TRUE(store->begin().ok());
  EXPECT_EQ(store->apply(marker("a", 5, "first")).value(), Applied::kWritten);
  EXPECT_EQ(store->apply(upsert("a", 4, "late")).value(), Applied::kNotNewer);
  EXPECT_EQ(store->apply(removal("a", 4)).value(), Applied::kNotNewer);
  EXPECT_EQ(store->apply(marker("a", 5, "again")).value(), Applied::kNotNewer);
  ASSERT_TRUE(store->commit().ok());
  EXPECT_EQ(rows(kNotIndexed), "a|first\n");
  apply_all(*store, {marker("a", 6, "second")});
  EXPECT_EQ(rows(kNotIndexed), "a|second\n");
  apply_all(*store, {upsert("a", 7, "back")});
  EXPECT_EQ(rows(kNotIndexed), "");
  EXPECT_EQ(documents(), "a|1|7|0|back\n");
  EXPECT_EQ(search("back"), "a\n");
  apply_all(*store, {marker("a", 8, "third"), removal("a", 9)});
  EXPECT_EQ(rows(kNotIndexed), "");
  EXPECT_EQ(documents(), "a|2|9|1|-\n");
  apply_all(*store, {marker("a", 8, "late")});
  EXPECT_EQ(rows(kNotIndexed), "");
}

TEST_F(DocumentStoreTest, GivesAFileOfAnOlderVersionTheColumnOfErrors) {
  {
    auto database = Database::open(file(), Database::Mode::kCreate);
    ASSERT_TRUE(database.value()
                    .execute("CREATE TABLE documents("
                             "  id BLOB PRIMARY KEY, seq TEXT, version INTEGER, deleted INTEGER, payload BLOB);"
                             "INSERT INTO documents VALUES(CAST('a' AS BLOB), '1', 5, 0, CAST('text' AS BLOB))")
                    .ok());
  }
  for (int start = 0; start < 2; ++start) {
    const auto store = open();
    EXPECT_EQ(documents(), "a|1|5|0|text\n");
    EXPECT_EQ(rows(kNotIndexed), "");
  }
  apply_all(*open(), {marker("a", 6, "not a PDF")});
  EXPECT_EQ(rows(kNotIndexed), "a|not a PDF\n");
}

TEST_F(DocumentStoreTest, StoresBytesThatAreNoTextAndIndexesThemAsEmpty) {
  const auto store = open();
  apply_all(*store, {upsert("bin", 1, "word \xff\xfe word"), upsert("\xff\x01", 2, "word"), upsert("empty", 3, "")});
  EXPECT_EQ(search("word"), "\xff\x01\n");
  EXPECT_EQ(rows("SELECT hex(payload) FROM documents WHERE id = CAST('bin' AS BLOB)"), "776F726420FFFE20776F7264\n");
  EXPECT_EQ(rows("SELECT typeof(payload) FROM documents WHERE id = CAST('empty' AS BLOB)"), "blob\n");
}

TEST_F(DocumentStoreTest, TheIndexSurvivesAVacuum) {
  const auto store = open();
  apply_all(*store, {upsert("a", 1, "one"), upsert("b", 2, "two"), upsert("c", 3, "three")});
  {
    auto database = Database::open(file(), Database::Mode::kCreate);
    ASSERT_TRUE(database.value().execute("DELETE FROM documents WHERE id = CAST('a' AS BLOB); VACUUM;").ok());
  }
  apply_all(*store, {upsert("c", 4, "four"), removal("b", 5)});
  EXPECT_EQ(search("two OR three"), "");
  EXPECT_EQ(search("four"), "c\n");
}

TEST_F(DocumentStoreTest, PositionsAndRowsOfAnUncommittedBatchVanishTogether) {
  {
    const auto store = open();
    ASSERT_TRUE(store->begin().ok());
    ASSERT_TRUE(store->apply(upsert("a", 1, "kept")).ok());
    ASSERT_TRUE(store->set_position(Partition(2), Offset(11)).ok());
    ASSERT_TRUE(store->commit().ok());
    ASSERT_TRUE(store->begin().ok());
    ASSERT_TRUE(store->apply(upsert("b", 2, "lost")).ok());
    ASSERT_TRUE(store->reject(Partition(2), Offset(12), "why").ok());
    ASSERT_TRUE(store->set_position(Partition(2), Offset(13)).ok());
  }
  const auto store = open();
  EXPECT_EQ(documents(), "a|1|1|0|kept\n");
  const std::map<Partition, Offset> expected = {{Partition(2), Offset(11)}};
  EXPECT_EQ(store->positions().value(), expected);
  EXPECT_EQ(rows("SELECT count(*) FROM rejected"), "0\n");
}

TEST_F(DocumentStoreTest, RefusesADatabaseOfAnotherTopicOrCheck) {
  open();
  const auto other_topic = DocumentStore::open(file(), {.topic = "other"});
  ASSERT_FALSE(other_topic.ok());
  EXPECT_EQ(other_topic.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_NE(other_topic.error().message.find("topic app.output.search, not other"), std::string::npos);
  EXPECT_FALSE(DocumentStore::open(file(), {.topic = "app.output.search", .check = Check::kOff}).ok());
  EXPECT_TRUE(DocumentStore::open(file(), {.topic = "app.output.search"}).ok());
}

// A search that is open in another process for as long as the sink has to stop.
TEST_F(DocumentStoreTest, IsFinishedAlthoughSomebodyReadsIt) {
  {
    const auto store = open();
    apply_all(*store, {upsert("a", 5, "text")});
    auto reader = Database::open(file(), Database::Mode::kReadOnly);
    ASSERT_TRUE(reader.ok());
    auto reading = reader.value().prepare("SELECT id FROM documents");
    ASSERT_TRUE(reading.value().step().value());
    const auto finished = store->finish();
    EXPECT_TRUE(finished.ok()) << finished.error().message;
  }
  EXPECT_EQ(documents(), "a|1|5|0|text\n");
  ASSERT_TRUE(open()->finish().ok());
  EXPECT_FALSE(fs::exists(file() + "-wal")) << "the next one folds it";
  EXPECT_EQ(documents(), "a|1|5|0|text\n");
}

TEST_F(DocumentStoreTest, IsOneFileAfterAnOrderlyEndAndCanBeFilledFurther) {
  {
    const auto store = open();
    apply_all(*store, {upsert("a", 1, "text")});
    EXPECT_TRUE(fs::exists(file() + "-wal"));
    ASSERT_TRUE(store->finish().ok());
  }
  EXPECT_FALSE(fs::exists(file() + "-wal"));
  EXPECT_EQ(documents(), "a|1|1|0|text\n");
  EXPECT_FALSE(fs::exists(file() + "-shm"));
  apply_all(*open(), {upsert("a", 2, "more")});
  EXPECT_EQ(documents(), "a|1|2|0|more\n");
}

// Versions rise per document as the resequencer stamps them; which part is replayed from where is random.
TEST_F(DocumentStoreTest, ReplayingAnyPartOfTheLogLeavesTheSameTable) {
  std::mt19937_64 random(7);
  std::vector<std::string> ids = {"a", "b", "c", "d"};
  std::vector<std::string> payloads;
  for (int version = 0; version <= 60; ++version) payloads.push_back("payload " + std::to_string(version));
  std::vector<Change> log;
  for (std::uint64_t version = 1; version <= 60; ++version) {
    const std::string& id = ids[random() % ids.size()];
    const auto kind = random() % 4;
    log.push_back(kind == 0   ? removal(id, version)
                  : kind == 1 ? marker(id, version, payloads[version])
                              : upsert(id, version, payloads[version]));
  }
  const auto once = open(Check::kVersions, "once.db");
  apply_all(*once, log);
  const std::string expected = documents("once.db");
  const std::string errors = rows("SELECT id, error FROM documents ORDER BY id", "once.db");
  for (int trial = 0; trial < 20; ++trial) {
    const std::string name = "trial-" + std::to_string(trial) + ".db";
    const auto store = open(Check::kVersions, name);
    for (std::size_t done = 0; done < log.size();) {
      const std::size_t end = std::min(log.size(), done + 1 + random() % 20);
      const std::size_t begin = random() % (done + 1);  // a restart from anywhere before
      const auto at = [&](std::size_t i) { return log.begin() + static_cast<std::ptrdiff_t>(i); };
      apply_all(*store, {at(begin), at(end)});
      done = end;
    }
    apply_all(*store, {log.begin(), log.begin() + 30});
    EXPECT_EQ(documents(name), expected) << "trial " << trial;
    EXPECT_EQ(rows("SELECT id, error FROM documents ORDER BY id", name), errors) << "trial " << trial;
  }
}

}  // namespace
}  // namespace reseq::sqlite
