// Each check of the judge sees what it is for: the history of a world in which nothing is wrong is judged with one
// thing changed.
#include "tests/judge/review.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "codec/header_names.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "tests/judge/checks.h"
#include "tests/judge/expected_end.h"
#include "tests/unit/judge/past.h"

namespace reseq::judge {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const Past& past() {
  return Past::shared();
}

Record record_at(Place place, std::size_t i) {
  return past().history().log(place)[i];
}

// Two records of one document, one behind the other, in a log of this topic.
struct Pair {
  Place place;
  Record first, second;
};

Pair pair_in(std::size_t topic) {
  for (std::int32_t p = 0; p < past().application().partitions; ++p) {
    const Place place{topic, Partition(p)};
    std::map<std::string_view, Record> last;
    for (std::size_t i = 0; i < past().history().log(place).size(); ++i) {
      const Record record = record_at(place, i);
      if (const auto known = last.find(*record.key); known != last.end()) return {place, known->second, record};
      last[*record.key] = record;
    }
  }
  ADD_FAILURE() << "no document has two records";
  return {};
}

std::vector<std::string> found_after_swap(std::size_t topic) {
  const Pair pair = pair_in(topic);
  return past().found(*past().edited([&](Place place, const Record& record) -> std::vector<Record> {
    Record other = record;
    if (place == pair.place && record.offset == pair.first.offset) other = pair.second;
    if (place == pair.place && record.offset == pair.second.offset) other = pair.first;
    other.offset = record.offset;
    return {other};
  }));
}

void set_header(Record& record, std::string_view name, std::string_view value) {
  for (Header& header : record.headers)
    if (header.name == name) header.value = value;
}

// Of partition 0.
std::vector<Record> meta_rows() {
  std::vector<Record> rows;
  for (std::size_t i = 0; i < past().history().log(past().changelog()).size(); ++i)
    if (const Record record = record_at(past().changelog(), i); record.key == codec::meta_key()) rows.push_back(record);
  return rows;
}

Meta meta_of(const Record& row) {
  return std::get<Meta>(codec::decode_meta(*row.key, *row.payload));
}

// The history with one meta row of partition 0 changed.
std::unique_ptr<History> with_meta(Offset offset, const std::function<void(Meta&)>& change) {
  const auto rows = meta_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Record& one) { return one.offset == offset; });
  Meta meta = meta_of(*row);
  change(meta);
  std::string value;
  codec::encode_meta(codec::meta_key(), meta, value);
  Record other = *row;
  other.payload = value;
  return past().with(past().changelog(), offset, other);
}

TEST(Judge, FindsNothingWrongInWhatIsRight) {
  EXPECT_THAT(past().found(past().history()), IsEmpty());
}

TEST(Judge, SeesAnOutputThatIsMissing) {
  const Place place{past().output(), Partition(0)};
  EXPECT_THAT(past().found(*past().with(place, record_at(place, 3).offset, std::nullopt)), ElementsAre("produced"));
}

TEST(Judge, SeesAnOutputThatIsThereTwice) {
  const Place place{past().output(), Partition(0)};
  EXPECT_THAT(past().found(*past().with_added(place, record_at(place, 3))), ElementsAre("versions", "produced"));
}

TEST(Judge, SeesOutputsInAnotherOrder) {
  EXPECT_THAT(found_after_swap(past().output()), ElementsAre("versions", "produced"));
}

TEST(Judge, SeesWorkInAnotherOrder) {
  EXPECT_THAT(found_after_swap(past().work()), ElementsAre("produced"));
}

// The same records, each once, and in the order of their decisions for who reads one partition behind the other. Who
// reads both at once may see them in any order.
TEST(Judge, SeesADocumentInTwoPartitions) {
  const Place from{past().work(), Partition(0)};
  const Place to{past().work(), Partition(1)};
  const History::Log& log = past().history().log(from);
  std::map<std::string_view, std::vector<Record>> by_key;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const Record record = log[i];
    by_key[*record.key].push_back(record);
  }
  const auto several =
      std::find_if(by_key.begin(), by_key.end(), [](const auto& document) { return document.second.size() > 1; });
  ASSERT_NE(several, by_key.end());
  const Record moved = several->second.back();
  const Offset last = past().history().log(to).offset(past().history().log(to).size() - 1);
  EXPECT_THAT(past().found(*past().edited([&](Place place, const Record& record) -> std::vector<Record> {
    if (place == from && record.offset == moved.offset) return {};
    if (place == to && record.offset == last) return {record, moved};
    return {record};
  })),
              ElementsAre("produced"));
}

TEST(Judge, SeesAVersionThatFalls) {
  const Place place{past().output(), Partition(0)};
  Record lower = record_at(place, 5);
  set_header(lower, codec::header::kVersion, "1");
  EXPECT_THAT(past().found(*past().with(place, lower.offset, lower)), ElementsAre("versions", "produced"));
}

TEST(Judge, SeesARecordThatNobodySent) {
  for (const Role role : {Role::kWork, Role::kDeadLetter, Role::kEvents}) {
    Record foreign;
    foreign.key = "document-0";
    foreign.payload = "foreign";
    const Place place{past().application().topics.of(role).value(), Partition(0)};
    EXPECT_THAT(past().found(*past().with_added(place, foreign)), ElementsAre("produced"));
  }
}

TEST(Judge, SeesAnEventThatIsMissing) {
  const Place place{past().application().topics.of(Role::kEvents).value(), Partition(1)};
  EXPECT_THAT(past().found(*past().with(place, record_at(place, 0).offset, std::nullopt)), ElementsAre("produced"));
}

TEST(Judge, SeesAByteOfARowThatChanged) {
  const Pair pair = pair_in(past().changelog().topic);
  std::string value(*pair.second.payload);
  value.back() = static_cast<char>(value.back() ^ 1);
  Record other = pair.second;
  other.payload = value;
  const auto found = past().found(*past().with(pair.place, pair.second.offset, other));
  EXPECT_THAT(found, Contains("fold"));
  EXPECT_TRUE(!found.empty());
}

TEST(Judge, SeesARowThatAnOldOneReplaced) {
  std::map<std::string_view, Record> last;
  const Place place = past().changelog();
  for (std::size_t i = 0; i < past().history().log(place).size(); ++i) {
    const Record record = record_at(place, i);
    if (record.key == codec::meta_key() || !record.payload) continue;
    if (const auto known = last.find(*record.key); known != last.end() && known->second.payload != record.payload) {
      const auto found = past().found(*past().with(place, record.offset, known->second));
      EXPECT_THAT(found, Contains("fold"));
      EXPECT_THAT(found, Contains("replay"));
      return;
    }
    last[*record.key] = record;
  }
  FAIL() << "no row was written twice";
}

TEST(Judge, SeesABatchThatIsMissing) {
  const auto rows = meta_rows();
  const Offset behind = rows[rows.size() / 2 - 1].offset;
  const Offset last = rows[rows.size() / 2].offset;
  const auto found = past().found(*past().edited([&](Place place, const Record& record) -> std::vector<Record> {
    if (place == past().changelog() && record.offset > behind && record.offset <= last) return {};
    return {record};
  }));
  EXPECT_THAT(found, Contains("tiles"));
}

TEST(Judge, SeesABatchOfAnOwnerThatWasReplaced) {
  const auto rows = meta_rows();
  const auto old = std::find_if(rows.begin(), rows.end(), [](const Record& row) {
    return meta_of(row).lineage.size() == 2 && !meta_of(row).ranges.empty();
  });
  ASSERT_NE(old, rows.end());
  EXPECT_THAT(past().found(*past().with_added(past().changelog(), *old)), Contains("tiles"));
}

TEST(Judge, SeesATakeoverThatRestoredTooLittle) {
  const auto rows = meta_rows();
  const auto first =
      std::find_if(rows.begin(), rows.end(), [](const Record& row) { return meta_of(row).lineage.size() == 2; });
  ASSERT_NE(first, rows.end());
  const auto changed = with_meta(first->offset, [&](Meta& meta) {
    meta.lineage.back().restore_target = std::prev(first)->offset;  // in front of the last meta row
  });
  EXPECT_THAT(past().found(*changed), ElementsAre("tiles"));
}

TEST(Judge, SeesAPositionThatMoved) {
  const auto rows = meta_rows();
  const auto changed = with_meta(rows[rows.size() / 2].offset, [](Meta& meta) {
    meta.positions.front().next = Offset(meta.positions.front().next.value() + 1);
  });
  EXPECT_THAT(past().found(*changed), ElementsAre("tiles"));
}

TEST(Judge, SeesAnInputThatWasDecidedWhileThePartitionWasPaused) {
  const auto rows = meta_rows();
  const auto decides = [](const Record& row) {
    const auto ranges = meta_of(row).ranges;
    return std::any_of(ranges.begin(), ranges.end(), [](const InputRange& range) { return range.first != range.end; });
  };
  const auto busy = std::find_if(rows.begin() + 1, rows.end(), decides);
  ASSERT_NE(busy, rows.end());
  const auto changed = with_meta(std::prev(busy)->offset, [](Meta& meta) { meta.state.paused = true; });
  EXPECT_THAT(past().found(*changed), Contains("tiles"));
}

TEST(Judge, SeesADigestThatIsNotThatOfTheRows) {
  const auto changed = with_meta(meta_rows().back().offset, [](Meta& meta) { ++meta.summary.digest.low; });
  EXPECT_THAT(past().found(*changed), ElementsAre("fold"));
}

TEST(Judge, SeesPrioritiesThatAreNotThoseOfTheRows) {
  const auto changed = with_meta(meta_rows().back().offset, [](Meta& meta) {
    meta.summary.priorities = {{100, 1, 0}};
  });
  EXPECT_THAT(past().found(*changed), ElementsAre("fold"));
}

TEST(Judge, SeesAClockThatIsNotThatOfTheInputs) {
  const auto changed = with_meta(meta_rows().back().offset,
                                 [](Meta& meta) { meta.state.clock = Version(meta.state.clock.value() + 1); });
  EXPECT_THAT(past().found(*changed), Contains("replay"));
}

TEST(Judge, SeesAnInputThatNobodyDecided) {
  const Record last = record_at(past().requests(), past().history().log(past().requests()).size() - 1);
  EXPECT_THAT(past().found(*past().with_added(past().requests(), last)), ElementsAre("tiles"));
}

TEST(Judge, SeesAnInputThatWasThereWhenItWasDecided) {
  // What became work made a row: without it the batch would have been another one.
  const Record work = record_at({past().work(), Partition(0)}, 0);
  for (std::size_t i = 0; i < past().history().log(past().requests()).size(); ++i) {
    const Record request = record_at(past().requests(), i);
    if (request.key != work.key || request.payload != work.payload) continue;
    EXPECT_THAT(past().found(*past().with(past().requests(), request.offset, std::nullopt)), Contains("replay"));
    return;
  }
  FAIL() << "nobody asked for the first work";
}

TEST(Judge, SeesAPartitionThatWasNeverBorn) {
  const auto found = past().found(*past().edited([](Place place, const Record& record) -> std::vector<Record> {
    if (place == past().changelog()) return {};
    return {record};
  }));
  EXPECT_THAT(found, Contains("changelog"));
}

TEST(Judge, SeesInputsInFrontOfABirth) {
  const Record birth = meta_rows().front();
  const auto changed = with_meta(birth.offset, [](Meta& meta) {
    for (InputPosition& position : meta.positions) position.next = Offset(position.next.value() + 2);
  });
  EXPECT_THAT(past().found(*changed), ElementsAre("tiles"));
}

// What somebody asked for, told otherwise.
class Otherwise final : public Specification {
 public:
  explicit Otherwise(std::function<void(std::optional<Asked>&)> change) : change_(std::move(change)) {}
  [[nodiscard]] std::optional<Asked> asked(const Record& request) const override {
    std::optional<Asked> asked = past().specification().asked(request);
    if (asked) change_(asked);
    return asked;
  }
  [[nodiscard]] bool excused(const Piece& piece) const override { return past().specification().excused(piece); }

 private:
  std::function<void(std::optional<Asked>&)> change_;
};

TEST(Judge, SeesADocumentThatDidNotGetItsNewestRequest) {
  const Otherwise newer([](std::optional<Asked>& asked) { asked->sequence += 1'000; });
  EXPECT_THAT(past().found(past().history(), newer), ElementsAre("end"));
}

TEST(Judge, SeesAPayloadThatNobodyAskedFor) {
  const Otherwise other([](std::optional<Asked>& asked) {
    if (asked->payload) asked->payload->push_back('!');
  });
  EXPECT_THAT(past().found(past().history(), other), ElementsAre("end"));
}

TEST(Judge, SeesADocumentThatNobodyAskedFor) {
  const Otherwise nobody([](std::optional<Asked>& asked) { asked.reset(); });
  EXPECT_THAT(past().found(past().history(), nobody), ElementsAre("end"));
}

TEST(Judge, SeesADocumentThatTheStateForgot) {
  Verdict verdict;
  ExpectedEnd end(past().application().settings, past().specification(), verdict);
  Produced produced(past().application().topics.names().size());
  Replay(past().application(), past().history(), Partition(0), produced, verdict).run([&](const ReplayedBatch& batch) {
    end.take(batch);
  });
  ASSERT_TRUE(verdict.good());
  end.finish({});
  EXPECT_GE(verdict.count(), 1U);
}

// Whatever reason it was given: nothing is known that would be as new for its target.
TEST(Judge, SeesARegisterThatWasStopped) {
  Record command;
  command.key = "document-of-a-register";
  command.headers = {{codec::header::kCommand, "register"},
                     {codec::header::kSeq, "8"},
                     {codec::header::kEpoch, "0"},
                     {codec::header::kTargets, past().application().settings.targets.front().name}};
  for (const Outcome outcome : {Outcome::kDropped, Outcome::kDeadLettered}) {
    ReplayedBatch batch;
    batch.inputs.push_back({Role::kCommands, command, {outcome, Reason::kSuperseded, TableRow::kR4}});
    Verdict verdict;
    ExpectedEnd end(past().application().settings, past().specification(), verdict);
    end.take(batch);
    end.finish(outcome == Outcome::kDropped ? std::set<std::string>{std::string(*command.key)}
                                            : std::set<std::string>{});
    EXPECT_EQ(verdict.count(), outcome == Outcome::kDropped ? 1U : 0U);
  }
}

TEST(Judge, SeesATimerThatFiredAheadOfAnInput) {
  const Record request = record_at(past().requests(), 1);
  ReplayedBatch batch;
  for (const Role role : runtime::kInputs) {  // of the others nothing is unread
    const History::Log& log = past().history().log({past().application().topics.of(role).value(), Partition(0)});
    const Offset end = log.empty() ? Offset(0) : Offset(log.offset(log.size() - 1).value() + 1);
    batch.meta.positions.push_back({role, role == Role::kRequests ? request.offset : end});
  }
  batch.fired = {{"document-0", UnixMs(request.timestamp.value() + 1)}};
  Verdict verdict;
  check_timers(past().application(), past().history(), Partition(0), batch, verdict);
  EXPECT_EQ(verdict.count(), 1U);
  batch.fired = {{"document-0", request.timestamp}};
  Verdict good;
  check_timers(past().application(), past().history(), Partition(0), batch, good);
  EXPECT_TRUE(good.good());
}

TEST(Judge, SeesAnOffsetOfTheGroupThatMoved) {
  Verdict verdict;
  const auto states = review(past().application(), past().history(), past().specification(), {}, verdict);
  std::map<Place, Offset> committed;
  for (std::size_t p = 0; p < states.size(); ++p)
    for (const InputPosition& position : states[p].meta()->positions)
      committed[{past().application().topics.of(position.role).value(), Partition(static_cast<std::int32_t>(p))}] =
          position.next;
  check_offsets(past().application(), committed, states, verdict);
  EXPECT_TRUE(verdict.good());
  Offset& one = committed[past().requests()];
  one = Offset(one.value() - 1);
  check_offsets(past().application(), committed, states, verdict);
  EXPECT_EQ(verdict.count(), 1U);
  committed.erase(past().requests());
  check_offsets(past().application(), committed, states, verdict);
  EXPECT_EQ(verdict.count(), 2U);
}

}  // namespace
}  // namespace reseq::judge
