// A transactional stage over the simulated Kafka: each result exactly once, whatever fails, dies or comes back.
#include "consumers/stage/transactional_stage.h"

#include <gmock/gmock.h>
#include <list>
#include <map>
#include <set>

#include "consumers/stage/transactional_sender.h"
#include "tests/simulation/kafka_rig.h"

namespace reseq::stage {
namespace {

using simulation::Call;
using simulation::Fault;
using simulation::kA0;
using simulation::kB;
using simulation::kLimit;
using test::good;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int32_t kPartitions = 2;

// A process with one stage. When it dies it stays behind as a zombie, because nobody says goodbye for it.
struct Life {
  simulation::Process process;
  std::unique_ptr<Stage> stage;
  std::vector<Work> open;
};

class TransactionalStageTest : public simulation::SimulatedKafka {
 protected:
  explicit TransactionalStageTest(std::uint64_t seed = 1) : SimulatedKafka(seed) {}

  Life& start(const std::string& name, std::size_t in_flight_max = 8) {
    Life& life = lives_.emplace_back();
    life.stage = good(
        open_transactional_stage(std::make_shared<simulation::SimulatedCluster>(broker, life.process, settings(name)),
                                 {.in_flight_max = in_flight_max, .commit_interval = std::chrono::milliseconds(0)}));
    return life;
  }
  void write_work(std::int32_t p, const std::string& key) {
    broker.append({0, Partition(p)}, {key, "text of " + key, {{"reseq-seq", "1"}, {"note", std::nullopt}}, {}});
  }
  // Lets the stage run until it has handed out so many records.
  void take(Life& life, std::size_t count) {
    for (int i = 0; i < 200 && life.open.size() < count; ++i) step(life);
    ASSERT_EQ(life.open.size(), count);
    settle(life);  // also the transaction of the first offsets
  }
  void step(Life& life) {
    Result<std::optional<Work>> work = life.stage->next(Milliseconds(0));
    ASSERT_TRUE(work) << work.error().message;
    if (work.value()) life.open.push_back(std::move(*work.value()));
    ticks(1);
  }
  static void answer(Life& life, std::size_t which) {
    const Work& work = life.open[which];
    ASSERT_TRUE(life.stage->send(work, {.target = "search", .payload = "result of " + *work.key}));
    life.stage->finish(work);
  }
  void settle(Life& life) {
    for (int i = 0; i < 40; ++i) step(life);
  }
  // Keys of the results that a read_committed reader sees.
  std::vector<std::string> results() {
    std::vector<std::string> keys;
    for (std::int32_t p = 0; p < kPartitions; ++p)
      for (const std::string& key : read(*reader({kB, Partition(p)})))
        if (!key.starts_with('@')) keys.push_back(key);
    return keys;
  }
  // name=value, of the first result of each partition.
  std::vector<std::string> headers_of_results() {
    std::vector<std::string> headers;
    for (std::int32_t p = 0; p < kPartitions; ++p) {
      const auto from = reader({kB, Partition(p)});
      kafka::LogPolled polled;
      for (int i = 0; i < 10 && !std::holds_alternative<kafka::Record>(polled); ++i)
        polled = good(from->poll(Milliseconds(0)));
      const auto* record = std::get_if<kafka::Record>(&polled);
      if (record == nullptr) continue;
      for (const Header& header : record->headers)
        headers.push_back(std::string(header.name) + "=" + std::string(header.value.value_or("(null)")));
    }
    return headers;
  }
  Offset committed() {
    const auto watcher = cluster("watcher");
    const auto consumer = good(watcher->consumer(simulation::kA));
    return good(consumer->committed({&kA0, 1}, kLimit))[0].offset;
  }

  std::list<Life> lives_;  // destroyed before the broker
};

TEST_F(TransactionalStageTest, PutsResultsAndOffsetsIntoOneTransaction) {
  write_work(0, "a");
  Life& life = start("1");
  take(life, 1);
  EXPECT_EQ(life.open[0].header("reseq-seq"), "1");
  ASSERT_TRUE(life.stage->send(life.open[0], {.target = "search", .payload = "result"}));
  ASSERT_TRUE(life.stage->send(life.open[0], {.target = "catalogue"}));
  settle(life);
  EXPECT_THAT(results(), IsEmpty()) << "the record is not finished";
  EXPECT_EQ(committed(), Offset(0));
  life.stage->finish(life.open[0]);
  settle(life);
  EXPECT_THAT(results(), ElementsAre("a", "a"));
  EXPECT_EQ(committed(), Offset(1));
  EXPECT_EQ(life.stage->in_flight_count(), 0U);
}

TEST_F(TransactionalStageTest, KeepsAllHeadersAlsoThoseWithoutAValue) {
  write_work(0, "a");
  Life& life = start("1");
  take(life, 1);
  answer(life, 0);
  settle(life);
  EXPECT_THAT(headers_of_results(),
              ElementsAre("reseq-seq=1", "note=(null)", "reseq-command=sequence", "reseq-target=search"));
}

TEST_F(TransactionalStageTest, SaysOfAFailureThatNothingWasDone) {
  write_work(0, "a");
  Life& life = start("1");
  take(life, 1);
  ASSERT_TRUE(life.stage->send(life.open[0], {.answer = Answer::kFail, .failure = {.without_effect = true}}));
  life.stage->finish(life.open[0]);
  settle(life);
  EXPECT_THAT(headers_of_results(),
              ElementsAre("reseq-seq=1", "note=(null)", "reseq-command=fail", "reseq-target=*", "reseq-failure=unknown",
                          "reseq-failure-scope=document", "reseq-effect=none"));
}

TEST_F(TransactionalStageTest, KeepsResultsBackBehindARecordThatIsNotFinished) {
  for (const char* key : {"a", "b", "c"}) write_work(0, key);
  Life& life = start("1");
  take(life, 3);
  answer(life, 1);
  answer(life, 2);
  settle(life);
  EXPECT_THAT(results(), IsEmpty());
  answer(life, 0);
  settle(life);
  EXPECT_THAT(results(), testing::UnorderedElementsAre("a", "b", "c"));
  EXPECT_EQ(committed(), Offset(3));
}

TEST_F(TransactionalStageTest, ReadsNoFurtherWhileItKeepsTooMuch) {
  for (int i = 0; i < 6; ++i) write_work(0, std::string(1, static_cast<char>('a' + i)));
  Life& life = start("1", 3);
  take(life, 3);
  answer(life, 1);
  answer(life, 2);
  settle(life);
  EXPECT_EQ(life.open.size(), 3U);
  answer(life, 0);
  take(life, 6);
}

TEST_F(TransactionalStageTest, ReadsAgainWhatWasInATransactionThatFailed) {
  write_work(0, "a");
  Life& life = start("1");
  take(life, 1);
  broker.faults().order(Call::kFlush, Fault::kFatal);
  answer(life, 0);
  take(life, 2);
  EXPECT_EQ(life.open.back().key, "a");
  EXPECT_FALSE(life.stage->in_flight(life.open.front()));
  answer(life, life.open.size() - 1);
  settle(life);
  EXPECT_THAT(results(), ElementsAre("a"));
}

TEST_F(TransactionalStageTest, DoesNotRepeatATransactionThatHappenedWithoutAnAnswer) {
  write_work(0, "a");
  Life& life = start("1");
  take(life, 1);
  broker.faults().order(Call::kCommit, Fault::kFatalHappened);
  answer(life, 0);
  settle(life);
  EXPECT_THAT(results(), ElementsAre("a"));
  EXPECT_EQ(committed(), Offset(1));
  EXPECT_EQ(life.open.size(), 1U);
}

TEST_F(TransactionalStageTest, RefusesAResultThatItsTopicWouldNotTake) {
  write_work(0, "a");
  Life& life = start("1");
  take(life, 1);
  const Result<> sent = life.stage->send(life.open[0], {.target = "search", .payload = std::string(2'000, 'x')});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(sent.error().message, testing::HasSubstr("max.message.bytes"));
}

TEST_F(TransactionalStageTest, RefusesMoreResultsOfOneRecordThanItKeeps) {
  write_work(0, "a");
  Life& life = start("1");
  take(life, 1);
  for (std::size_t i = 0; i < kRecordResultsMax; ++i) ASSERT_TRUE(life.stage->send(life.open[0], {.target = "search"}));
  const Result<> sent = life.stage->send(life.open[0], {.target = "search"});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(sent.error().message, testing::HasSubstr("too many results for one record"));
}

TEST_F(TransactionalStageTest, TakesAnotherTransactionForWhatIsTooMuchForOne) {
  constexpr std::size_t kRecords = 12;
  constexpr std::size_t kInOne = kTransactionResultsMax / kRecordResultsMax;
  static_assert(kInOne < kRecords);
  for (std::size_t i = 0; i < kRecords; ++i) write_work(0, std::string(1, static_cast<char>('a' + i)));
  Life& life = start("1", kRecords + 1);
  take(life, kRecords);
  for (const Work& work : life.open) {
    for (std::size_t n = 0; n < kRecordResultsMax; ++n) good(life.stage->send(work, {.target = "search"}));
    life.stage->finish(work);
  }
  for (int i = 0; i < 200 && results().empty(); ++i) step(life);
  EXPECT_EQ(results().size(), kInOne * kRecordResultsMax);
  EXPECT_EQ(committed(), Offset(kInOne));
  settle(life);
  EXPECT_EQ(results().size(), kRecords * kRecordResultsMax);
  EXPECT_EQ(committed(), Offset(kRecords));
}

TEST_F(TransactionalStageTest, EndsWithAReasonWhenNoTransactionGoesWell) {
  write_work(0, "a");
  Life& life = start("1");
  for (int i = 0; i < 100; ++i) broker.faults().order(Call::kFlush, Fault::kFatal);
  std::optional<Error> ended;
  for (int i = 0; i < 2'000 && !ended; ++i) {
    const Result<std::optional<Work>> work = life.stage->next(Milliseconds(0));
    if (!work) ended = work.error();
    if (work && work.value()) life.stage->finish(*work.value());
    ticks(1);
  }
  ASSERT_TRUE(ended);
  EXPECT_THAT(ended->message, testing::HasSubstr("transactions in a row have failed"));
}

// Two stages of a group, faults in every call, deaths, zombies that wake up again, and a record now and then.
class TransactionalWorld : public TransactionalStageTest, public testing::WithParamInterface<std::uint64_t> {
 protected:
  TransactionalWorld() : TransactionalStageTest(GetParam()) {
    broker.settings().early_per_mille = 200;
    broker.faults().set_rates({.passing = 30, .ending = 100, .fatal = 10});
  }

  // One step of one stage, or of a zombie. False: it is done for.
  bool live(Life& life) {
    Result<std::optional<Work>> work = life.stage->next(Milliseconds(0));
    if (!work) return false;
    if (work.value()) life.open.push_back(std::move(*work.value()));
    if (life.open.empty() || draw.chance(300)) return true;
    const std::size_t which = draw.below(life.open.size());
    if (!life.stage->send(life.open[which], {.target = "search", .payload = "result"})) return false;
    life.stage->finish(life.open[which]);
    life.open.erase(life.open.begin() + static_cast<std::ptrdiff_t>(which));
    return true;
  }
  void bury(Life*& life, const std::string& name) {
    life->process.paused = true;
    zombies_.push_back(life);
    life = &start(name);
  }
  void play(int steps, bool with_trouble) {
    for (int i = 0; i < steps; ++i) {
      for (std::size_t m = 0; m < members_.size(); ++m)
        if (!live(*members_[m]) || (with_trouble && draw.chance(10))) bury(members_[m], std::to_string(m));
      if (with_trouble && !zombies_.empty() && draw.chance(50)) {
        Life& zombie = *zombies_[draw.below(zombies_.size())];
        zombie.process.paused = false;
        (void)live(zombie);
        zombie.process.paused = true;
      }
      if (with_trouble && draw.chance(300)) {
        const std::string key = "document-" + std::to_string(written_.size());
        write_work(static_cast<std::int32_t>(draw.below(kPartitions)), key);
        written_.insert(key);
      }
      ticks(1, 40);
    }
  }

  std::vector<Life*> members_;
  std::vector<Life*> zombies_;
  std::set<std::string> written_;
};

TEST_P(TransactionalWorld, HasEachResultExactlyOnce) {
  for (const char* name : {"0", "1"}) members_.push_back(&start(name));
  play(1'500, true);
  broker.faults().set_rates({});
  play(1'500, false);
  std::map<std::string, int> seen;
  for (const std::string& key : results()) ++seen[key];
  for (const std::string& key : written_) EXPECT_EQ(seen[key], 1) << key;
  EXPECT_EQ(seen.size(), written_.size());
  EXPECT_GT(written_.size(), 100U);
  EXPECT_EQ(broker.counters().begins_in_doubt, 0U);
  EXPECT_GT(zombies_.size(), 5U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TransactionalWorld, testing::Range<std::uint64_t>(1, 13));

}  // namespace
}  // namespace reseq::stage
