// What a writer does with each kind of answer, with a store that answers as it is told. Servers are in tests/postgres.
#include "consumers/remote/writer.h"

#include <deque>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/remote/records.h"

namespace reseq::remote {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

using Turn = std::function<Result<>(const Batch&, std::span<Answer>)>;

Turn all(Answer::Kind kind) {
  return [kind](const Batch&, std::span<Answer> answers) -> Result<> {
    for (Answer& answer : answers) answer = {kind, "words"};
    return Done{};
  };
}

Turn fails(ErrorClass what_to_do) {
  return [what_to_do](const Batch&, std::span<Answer>) -> Result<> { return Error{what_to_do, 0, "words"}; };
}

Turn each(std::vector<Answer::Kind> kinds) {
  return [kinds](const Batch&, std::span<Answer> answers) -> Result<> {
    for (std::size_t i = 0; i < answers.size(); ++i) answers[i] = {kinds.at(i), "words"};
    return Done{};
  };
}

class ScriptedStore : public RemoteStore {
 public:
  std::deque<Turn> turns;
  std::vector<std::vector<std::string>> written;  // ids of each call
  std::vector<Clock::time_point> at;              // when it came
  bool positions_kept = false;

  [[nodiscard]] std::string place() const override { return "here"; }
  Result<> prepare() override { return Done{}; }
  std::vector<Finding> check() override { return {}; }
  [[nodiscard]] bool keeps_positions() const override { return positions_kept; }
  Result<> write(const Batch& batch, std::span<Answer> answers) override {
    std::vector<std::string>& ids = written.emplace_back();
    at.push_back(Clock::now());
    for (const Write& write : batch.writes) ids.emplace_back(write.change.id);
    if (turns.empty()) return all(Answer::Kind::kStored)(batch, answers);
    const Turn turn = turns.front();
    turns.pop_front();
    return turn(batch, answers);
  }
};

// A topic that is away for so many writes.
class LateLetters : public DeadLetters {
 public:
  LateLetters() : DeadLetters({}, "", 0) {}
  int away = 0;
  Result<> write(std::span<const Letter> letters) override {
    if (away > 0) return --away, Error{ErrorClass::kRetriable, 0, "no leader"};
    return DeadLetters::write(letters);
  }
};

class WriterTest : public testing::Test {
 protected:
  Finished write(const std::vector<RecordSpec>& records) {
    LoadBuilder builder = builder_at(records.front().offset);
    for (const RecordSpec& record : records) builder.add(record_of(record));
    lanes_.put(builder.take());
    Writer writer(store_, lanes_, letters_, tally_, pulse_, back_off_);
    const Finished finished = writer.write(lanes_.take());
    lanes_.give_back(finished);
    return finished;
  }

  ScriptedStore store_;
  BackOffLimits back_off_{milliseconds(1), milliseconds(2)};
  Lanes lanes_{1};
  LateLetters letters_;
  Tally tally_;
  Pulse pulse_{milliseconds(60'000)};
};

TEST_F(WriterTest, EndsWhenAllIsStoredOrNotNewer) {
  store_.turns = {each({Answer::Kind::kStored, Answer::Kind::kNotNewer})};
  EXPECT_EQ(write({{0, "a", "1"}, {1, "b", "2"}}).outcome, Outcome::kWritten);
  EXPECT_EQ(store_.written.size(), 1U);
  EXPECT_EQ(tally_.counts().written, 1U);
  EXPECT_EQ(tally_.counts().not_newer, 1U);
  EXPECT_EQ(tally_.standing().kind, Standing::Kind::kGood);
}

TEST_F(WriterTest, SendsOnlyThoseAgainThatHaveTo) {
  store_.turns = {each({Answer::Kind::kStored, Answer::Kind::kAgain, Answer::Kind::kRefused}),
                  all(Answer::Kind::kAgain)};
  EXPECT_EQ(write({{0, "a", "1"}, {1, "b", "2"}, {2, "c", "3"}}).outcome, Outcome::kWritten);
  EXPECT_THAT(store_.written, ElementsAre(ElementsAre("a", "b", "c"), ElementsAre("b"), ElementsAre("b")));
  EXPECT_EQ(tally_.counts().retried, 2U);
  EXPECT_EQ(tally_.counts().refused, 1U);
  EXPECT_EQ(tally_.counts().written, 2U);
}

// Otherwise who is away would be asked in a loop, and who has too much to do would never get through.
TEST_F(WriterTest, RestsBetweenTriesEverLongerUpToABound) {
  back_off_ = {milliseconds(8), milliseconds(32)};
  store_.turns = {fails(ErrorClass::kRetriable), all(Answer::Kind::kAgain), fails(ErrorClass::kInvalid),
                  fails(ErrorClass::kRetriable)};
  EXPECT_EQ(write({{0, "a", "1"}}).outcome, Outcome::kWritten);
  const std::vector<milliseconds> at_least = {milliseconds(4), milliseconds(8), milliseconds(16), milliseconds(16)};
  ASSERT_EQ(store_.at.size(), at_least.size() + 1);
  for (std::size_t i = 0; i < at_least.size(); ++i) EXPECT_GE(store_.at[i + 1] - store_.at[i], at_least[i]) << i;
}

TEST_F(WriterTest, TriesForEverWhileTheServerIsAwayOrRefuses) {
  for (int i = 0; i < 20; ++i)
    store_.turns.push_back(fails(i % 2 == 0 ? ErrorClass::kRetriable : ErrorClass::kInvalid));
  EXPECT_EQ(write({{0, "a", "1"}}).outcome, Outcome::kWritten);
  EXPECT_EQ(store_.written.size(), 21U);
  EXPECT_EQ(tally_.counts().retried, 20U);
}

TEST_F(WriterTest, MovesThePositionOfALoadWithoutWrites) {
  store_.positions_kept = true;
  EXPECT_EQ(write({{0, "a", "", "malformed"}}).outcome, Outcome::kWritten);
  EXPECT_THAT(store_.written, ElementsAre(ElementsAre()));
  EXPECT_EQ(tally_.counts().malformed, 1U);
}

TEST_F(WriterTest, MovesThePositionAfterTheLetters) {
  store_.positions_kept = true;
  store_.turns = {each({Answer::Kind::kHeldBack, Answer::Kind::kRefused}),
                  [this](const Batch& batch, std::span<Answer> answers) -> Result<> {
                    EXPECT_EQ(tally_.counts().refused, 1U) << "the letter has to be written before";
                    return all(Answer::Kind::kStored)(batch, answers);
                  }};
  EXPECT_EQ(write({{0, "a", "1"}, {1, "b", "2"}}).outcome, Outcome::kWritten);
  EXPECT_THAT(store_.written, ElementsAre(ElementsAre("a", "b"), ElementsAre("a")));
  EXPECT_EQ(tally_.counts().retried, 0U);
}

TEST_F(WriterTest, MovesThePositionWhenAllWasRefused) {
  store_.positions_kept = true;
  store_.turns = {all(Answer::Kind::kRefused)};
  EXPECT_EQ(write({{0, "a", "1"}}).outcome, Outcome::kWritten);
  EXPECT_THAT(store_.written, ElementsAre(ElementsAre("a"), ElementsAre()));
}

TEST_F(WriterTest, TellsThatTheTopicOfDeadLettersIsBackThoughNothingElseIsWritten) {
  letters_.away = 3;
  store_.turns = {all(Answer::Kind::kRefused)};
  EXPECT_EQ(write({{0, "a", "1"}}).outcome, Outcome::kWritten);
  EXPECT_EQ(tally_.counts().refused, 1U);
  EXPECT_EQ(tally_.standing().kind, Standing::Kind::kGood) << tally_.standing().words;
}

// What would be there if each had been written alone, newest version last.
TEST_F(WriterTest, StoresTheNewestThatIsNotRefused) {
  std::vector<std::uint64_t> versions;
  const auto refuses_above = [&](std::uint64_t most) -> Turn {
    return [&versions, most](const Batch& batch, std::span<Answer> answers) -> Result<> {
      for (std::size_t i = 0; i < answers.size(); ++i) {
        const std::uint64_t version = batch.writes[i].change.version.value();
        versions.push_back(version);
        answers[i] = {version > most ? Answer::Kind::kRefused : Answer::Kind::kStored, "words"};
      }
      return Done{};
    };
  };
  for (int i = 0; i < 5; ++i) store_.turns.push_back(refuses_above(2));
  EXPECT_EQ(write({{0, "a", "1"}, {1, "a", "4"}, {2, "b", "2"}, {3, "a", "2"}, {4, "a", "3"}}).outcome,
            Outcome::kWritten);
  EXPECT_THAT(versions, ElementsAre(4U, 2U, 3U, 2U));
  EXPECT_EQ(tally_.counts().refused, 2U);
  EXPECT_EQ(tally_.counts().written, 2U);
}

TEST_F(WriterTest, GivesUpWhatIsFencedOrFatal) {
  store_.turns = {fails(ErrorClass::kFenced)};
  EXPECT_EQ(write({{0, "a", "1"}}).outcome, Outcome::kFenced);
  store_.turns = {fails(ErrorClass::kFatal)};
  const Finished finished = write({{5, "a", "1"}});
  EXPECT_EQ(finished.outcome, Outcome::kFatal);
  EXPECT_EQ(finished.error.message, "words");
}

TEST_F(WriterTest, StopsWhenItsLoadIsDropped) {
  store_.turns = {[this](const Batch&, std::span<Answer>) -> Result<> {
    lanes_.drop_all();
    return Error{ErrorClass::kRetriable, 0, "words"};
  }};
  EXPECT_EQ(write({{0, "a", "1"}}).outcome, Outcome::kDropped);
  EXPECT_EQ(store_.written.size(), 1U);
}

TEST_F(WriterTest, WritesNothingBehindTheBackOfAReaderThatStoodStill) {
  Pulse pulse{milliseconds(10)};
  pulse.beat(Clock::now() - milliseconds(1'000));
  LoadBuilder builder = builder_at(0);
  builder.add(record_of({0, "a", "1"}));
  lanes_.put(builder.take());
  const auto load = lanes_.take();
  std::thread reader([&] {
    std::this_thread::sleep_for(milliseconds(50));
    lanes_.drop_all();
  });
  Writer writer(store_, lanes_, letters_, tally_, pulse, {milliseconds(1), milliseconds(2)});
  EXPECT_EQ(writer.write(load).outcome, Outcome::kDropped);
  reader.join();
  EXPECT_TRUE(store_.written.empty());
}

}  // namespace
}  // namespace reseq::remote
