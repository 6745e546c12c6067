// A stage over a log in memory: at least once, in any order, across rebalances.
#include "consumers/stage/stage.h"

#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <variant>

namespace reseq::stage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Partition kWorkPartition{0};

struct Sent {
  Ticket ticket;
  std::string key, payload;
  std::vector<OwnedHeader> headers;
};

struct Assigned {};
struct Revoked {
  bool may_commit = true;
};
using Event = std::variant<WorkRecord, Assigned, Revoked>;

// What happened, and what shall happen next; shared by the two sides of the seam.
struct World {
  std::deque<Event> events;
  std::map<Partition, Offset> committed;
  std::vector<NextOffset> positions;
  std::vector<Sent> sent;
  std::vector<Ticket> acknowledged;  // the next call of acknowledged() tells these
  bool commits_fail = false;
  int queue_full_times = 0;
};

class ReaderInMemory : public WorkReader {
 public:
  explicit ReaderInMemory(World& world) : world_(world) {}
  void listen(AssignmentListener& listener) override { listener_ = &listener; }
  Result<std::optional<WorkRecord>> poll(Milliseconds) override {
    if (world_.events.empty()) return std::optional<WorkRecord>();
    Event event = std::move(world_.events.front());
    world_.events.pop_front();
    if (auto* record = std::get_if<WorkRecord>(&event)) return std::optional<WorkRecord>(std::move(*record));
    const std::vector<Partition> partitions = {kWorkPartition};
    if (std::holds_alternative<Assigned>(event)) listener_->on_assigned(partitions);
    if (const auto* revoked = std::get_if<Revoked>(&event)) listener_->on_revoked(partitions, revoked->may_commit);
    return std::optional<WorkRecord>();
  }
  [[nodiscard]] std::vector<NextOffset> positions() const override { return world_.positions; }
  Result<> commit(std::span<const NextOffset> offsets) override {
    if (world_.commits_fail) return Error{.what_to_do = ErrorClass::kAbort, .message = "rebalancing"};
    for (const NextOffset& offset : offsets) world_.committed[offset.partition] = offset.next;
    return Done{};
  }
  void close() override { listener_->on_revoked(std::vector<Partition>{kWorkPartition}, true); }

 private:
  World& world_;
  AssignmentListener* listener_ = nullptr;
};

class SenderInMemory : public ResultSender {
 public:
  explicit SenderInMemory(World& world) : world_(world) {}
  Result<> send(const Ticket& ticket, std::optional<std::string_view> key, std::optional<std::string_view> payload,
                std::span<const OwnedHeader> headers) override {
    if (world_.queue_full_times-- > 0) return Error{.what_to_do = ErrorClass::kRetriable, .message = "full"};
    world_.sent.push_back({ticket,
                           std::string(key.value_or("(null)")),
                           std::string(payload.value_or("(null)")),
                           {headers.begin(), headers.end()}});
    return Done{};
  }
  Result<std::vector<Ticket>> acknowledged(Milliseconds) override { return std::exchange(world_.acknowledged, {}); }
  [[nodiscard]] std::size_t held() const override { return 0; }
  [[nodiscard]] bool holds(const Ticket&) const override { return false; }

 private:
  World& world_;
};

class StageTest : public ::testing::Test {
 protected:
  StageTest() {
    world_.events.push_back(Assigned{});
    step();
  }
  void record(std::int64_t offset) {
    world_.events.push_back(
        WorkRecord{kWorkPartition, Offset(offset), "key", "text", {{"reseq-seq", "1"}, {"reseq-x", "y"}}});
  }
  std::optional<Work> step() { return stage_.next(Milliseconds(0)).value(); }
  void acknowledge_all() {
    for (const Sent& sent : world_.sent) world_.acknowledged.push_back(sent.ticket);
    world_.sent.clear();
  }
  World world_;
  Stage stage_{std::make_unique<ReaderInMemory>(world_),
               std::make_unique<SenderInMemory>(world_),
               {.in_flight_max = 3, .commit_interval = std::chrono::milliseconds(0)}};
};

TEST_F(StageTest, SendsTheKeyThePayloadAndAllHeaders) {
  record(0);
  const std::optional<Work> work = step();
  ASSERT_TRUE(work);
  EXPECT_EQ(work->header("reseq-seq"), "1");
  ASSERT_TRUE(stage_.send(*work, {.target = "search", .payload = "result"}).ok());
  ASSERT_EQ(world_.sent.size(), 1U);
  EXPECT_EQ(world_.sent[0].key, "key");
  EXPECT_EQ(world_.sent[0].payload, "result");
  EXPECT_EQ(last_header(world_.sent[0].headers, "reseq-x"), "y");
  EXPECT_EQ(last_header(world_.sent[0].headers, "reseq-command"), "sequence");
}

TEST_F(StageTest, CommitsOnlyAfterTheAcknowledgement) {
  record(4);
  const std::optional<Work> work = step();
  ASSERT_TRUE(stage_.send(*work, {.target = "search"}).ok());
  stage_.finish(*work);
  step();
  EXPECT_EQ(world_.committed[kWorkPartition], Offset(4));
  acknowledge_all();
  step();
  EXPECT_EQ(world_.committed[kWorkPartition], Offset(5));
}

TEST_F(StageTest, CommitsAgainWhatCouldNotBeCommitted) {
  record(0);
  stage_.finish(*step());
  world_.commits_fail = true;
  step();
  EXPECT_THAT(world_.committed, IsEmpty());
  world_.commits_fail = false;
  step();
  EXPECT_EQ(world_.committed[kWorkPartition], Offset(1));
}

TEST_F(StageTest, ReadsNoFurtherWhileTooMuchIsInFlight) {
  for (int offset = 0; offset < 4; ++offset) record(offset);
  std::vector<Work> works;
  for (int i = 0; i < 3; ++i) works.push_back(*step());
  EXPECT_FALSE(step());
  EXPECT_EQ(stage_.in_flight_count(), 3U);
  stage_.finish(works[1]);
  EXPECT_TRUE(step());
}

TEST_F(StageTest, DropsWhatIsInFlightWhenItsPartitionGoesElsewhere) {
  record(0);
  record(1);
  const Work first = *step();
  const Work second = *step();
  stage_.finish(first);
  world_.events.push_back(Revoked{});
  step();
  EXPECT_EQ(world_.committed[kWorkPartition], Offset(1));  // what was done is committed before it goes
  EXPECT_FALSE(stage_.in_flight(second));
  ASSERT_TRUE(stage_.send(second, {.target = "search"}).ok());
  stage_.finish(second);
  EXPECT_THAT(world_.sent, IsEmpty());
  EXPECT_EQ(stage_.partitions_owned(), 0U);
}

TEST_F(StageTest, CommitsWhatIsFinishedWhenItIsDestroyed) {
  {
    Stage stage(std::make_unique<ReaderInMemory>(world_), std::make_unique<SenderInMemory>(world_), {});
    world_.events.push_back(Assigned{});
    record(0);
    (void)stage.next(Milliseconds(0));
    stage.finish(*stage.next(Milliseconds(0)).value());
  }
  EXPECT_EQ(world_.committed[kWorkPartition], Offset(1));
}

TEST_F(StageTest, CommitsNothingOfAPartitionThatOthersMayOwnAlready) {
  record(0);
  stage_.finish(*step());
  world_.events.push_back(Revoked{.may_commit = false});
  world_.commits_fail = true;
  step();
  world_.commits_fail = false;
  step();
  EXPECT_THAT(world_.committed, IsEmpty());
}

TEST_F(StageTest, CommitsTheControlRecordsAtTheEndOfTheLog) {
  record(0);
  stage_.finish(*step());
  world_.positions = {{kWorkPartition, Offset(2)}};
  step();
  step();
  EXPECT_EQ(world_.committed[kWorkPartition], Offset(2));
}

TEST_F(StageTest, CommitsWithoutReadingFurther) {
  record(0);
  record(1);
  const Work work = *step();
  ASSERT_TRUE(stage_.send(work, {.target = "search"}).ok());
  stage_.finish(work);
  acknowledge_all();
  ASSERT_TRUE(stage_.tend().ok());
  EXPECT_EQ(world_.committed[kWorkPartition], Offset(1));
  EXPECT_EQ(world_.events.size(), 1U) << "the second record was not read";
}

TEST_F(StageTest, WaitsForRoomInTheProducersQueue) {
  record(0);
  const Work work = *step();
  world_.queue_full_times = 5;
  ASSERT_TRUE(stage_.send(work, {.target = "search"}).ok());
  EXPECT_EQ(world_.sent.size(), 1U);
}

TEST_F(StageTest, RunsAHandlerAndCommitsAtTheEnd) {
  for (int offset = 0; offset < 2; ++offset) record(offset);
  int handled = 0;
  const auto handler = [&](const Work&) {
    ++handled;
    return std::vector<StageResult>{{.target = "search"}, {.target = "catalogue"}};
  };
  const auto stop = [&] {
    acknowledge_all();
    return handled == 2;
  };
  ASSERT_TRUE(run_stage(stage_, handler, stop).ok());
  EXPECT_EQ(world_.committed[kWorkPartition], Offset(2));
}

}  // namespace
}  // namespace reseq::stage
