// The sink over a log in memory: where it goes on, what it counts, what a bad record does.
#include "consumers/sink/sink.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "consumers/sqlite/document_store.h"

namespace reseq::sink {
namespace {

using kafka::PlainOffset;
using kafka::PlainRecord;

constexpr Partition kP0{0};

struct LogEntry {
  std::string key, payload, version;
  bool control = false;  // a transaction marker: takes an offset, is never delivered
};

// One partition, read from the assigned offset on.
class LogInMemory : public kafka::GroupConsumer {
 public:
  std::vector<LogEntry> log;
  std::int64_t first = 0;

  [[nodiscard]] std::vector<PlainOffset> begins() const { return {{"t", kP0, Offset(first)}}; }

  Result<> assign_all(std::string_view, std::span<const PlainOffset> next, Milliseconds) override {
    next_ = next[0].offset.value();
    return Done{};
  }
  Result<> read_from(std::span<const PlainOffset>) override { return Error{.message = "there is no group"}; }
  [[nodiscard]] std::optional<Offset> known_end(std::string_view, Partition) const override { return std::nullopt; }
  Result<std::optional<PlainRecord>> poll(Milliseconds) override {
    for (; next_ < static_cast<std::int64_t>(log.size()); ++next_) {
      const LogEntry& entry = log[static_cast<std::size_t>(next_)];
      if (!entry.control) return std::optional<PlainRecord>(record(entry, next_++));
    }
    return std::optional<PlainRecord>();
  }
  [[nodiscard]] std::vector<PlainOffset> positions() const override { return {{"t", kP0, Offset(next_)}}; }
  Result<> commit(std::span<const PlainOffset>) override { return Error{.message = "there is no group"}; }
  void close(Milliseconds) override {}

 private:
  static PlainRecord record(const LogEntry& entry, std::int64_t offset) {
    PlainRecord record;
    record.topic = "t";
    record.partition = kP0;
    record.offset = Offset(offset);
    record.key = entry.key;
    record.payload = entry.payload;
    if (!entry.version.empty()) record.headers.push_back({"reseq-version", entry.version});
    return record;
  }
  std::int64_t next_ = 0;
};

class SinkTest : public ::testing::Test {
 protected:
  SinkTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "reseq-sink-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    reopen();
  }
  ~SinkTest() override { std::filesystem::remove_all(folder_); }

  void reopen() {
    store_.reset();
    store_ = sqlite::DocumentStore::open(folder_ / "search.db", {.topic = "t"}).value();
  }
  Sink sink(std::uint64_t batch_records_max = 1'000) {
    return {reader_, *store_, {.batch_records_max = batch_records_max, .batch_time_max = std::chrono::hours(1)}};
  }
  static void steps(Sink& sink, int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(sink.step(Milliseconds(0)).ok());
  }
  std::int64_t count(const std::string& table) {
    auto database = sqlite::Database::open(folder_ / "search.db", sqlite::Database::Mode::kReadOnly);
    auto statement = database.value().prepare("SELECT count(*) FROM " + table);
    EXPECT_TRUE(statement.value().step().value());
    return statement.value().integer(0);
  }
  LogInMemory reader_;

 private:
  std::filesystem::path folder_;
  std::unique_ptr<Store> store_;
};

TEST_F(SinkTest, GoesOnFromItsOwnPositionAfterAKillInTheMiddleOfABatch) {
  for (int i = 1; i <= 5; ++i) reader_.log.push_back({"d" + std::to_string(i), "text", std::to_string(i)});
  {
    Sink killed = sink(2);
    ASSERT_TRUE(killed.start("t", reader_.begins()).ok());
    steps(killed, 3);  // two are committed, the third one is open
    EXPECT_EQ(killed.committed().at(kP0), Offset(2));
  }
  reopen();
  EXPECT_EQ(count("documents"), 2);
  Sink restarted = sink();
  ASSERT_TRUE(restarted.start("t", reader_.begins()).ok());
  steps(restarted, 4);
  ASSERT_TRUE(restarted.commit().ok());
  EXPECT_EQ(restarted.counts().records, 3U);
  EXPECT_EQ(count("documents"), 5);
  EXPECT_EQ(restarted.committed().at(kP0), Offset(5));
}

TEST_F(SinkTest, KeepsABadRecordAsideAndGoesOn) {
  reader_.log = {{"a", "good", "1"}, {"b", "no version", ""}, {"c", "no number", "x"}, {"d", "good", "2"}};
  Sink bad = sink();
  ASSERT_TRUE(bad.start("t", reader_.begins()).ok());
  steps(bad, 5);
  ASSERT_TRUE(bad.commit().ok());
  EXPECT_EQ(bad.counts().rejected, 2U);
  EXPECT_EQ(bad.counts().written, 2U);
  EXPECT_EQ(count("documents"), 2);
  EXPECT_EQ(count("rejected WHERE offset = 1 AND why = 'no reseq-version'"), 1);
  EXPECT_EQ(count("rejected"), 2);
}

TEST_F(SinkTest, ItsPositionPassesControlRecordsAtTheEnd) {
  reader_.log = {{"a", "x", "1"}, {"", "", "", true}};
  Sink all = sink();
  ASSERT_TRUE(all.start("t", reader_.begins()).ok());
  steps(all, 2);
  ASSERT_TRUE(all.commit().ok());
  EXPECT_EQ(all.committed().at(kP0), Offset(2));
  EXPECT_EQ(all.counts().records, 1U);
}

TEST_F(SinkTest, CountsReplaysAsNotNewer) {
  reader_.log = {{"a", "x", "2"}, {"a", "older", "1"}, {"a", "x", "2"}};
  Sink all = sink();
  ASSERT_TRUE(all.start("t", reader_.begins()).ok());
  steps(all, 3);
  EXPECT_EQ(all.counts().written, 1U);
  EXPECT_EQ(all.counts().not_newer, 2U);
}

TEST_F(SinkTest, RefusesToSkipReleasesThatRetentionHasTaken) {
  reader_.log = {{"a", "x", "1"}, {"b", "x", "2"}, {"c", "x", "3"}};
  Sink first = sink(1);
  ASSERT_TRUE(first.start("t", reader_.begins()).ok());
  steps(first, 1);
  reader_.first = 2;
  reopen();
  Sink later = sink();
  const Result<> started = later.start("t", reader_.begins());
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().what_to_do, ErrorClass::kInvalid);
}

}  // namespace
}  // namespace reseq::sink
