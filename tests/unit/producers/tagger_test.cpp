#include "producers/tagging/tagger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording_sink.h"

namespace reseq::test {
namespace {

using tagging::Change;
using testing::HasSubstr;
using Headers = std::map<std::string, std::string>;

Change upsert(std::variant<std::uint64_t, std::string> sequence = std::uint64_t{7}) {
  return {.id = "id", .sequence = std::move(sequence), .op = Op::kUpsert, .payload = "p", .targets = {}, .epoch = {}};
}

Recorded tagged(const Change& change, SequenceKind kind = SequenceKind::kU64) {
  const auto record = tagging::Tagger(kind).tag(change);
  EXPECT_TRUE(record.ok()) << (record.ok() ? "" : record.error().message);
  return record.ok() ? recorded(record.value()) : Recorded{};
}

std::string change_refusal(const Change& change, SequenceKind kind = SequenceKind::kU64) {
  const auto record = tagging::Tagger(kind).tag(change);
  if (record.ok()) return "";
  EXPECT_EQ(record.error().what_to_do, ErrorClass::kInvalid);
  return record.error().message;
}

TEST(Tagger, WritesOnlyTheSequenceOfAPlainUpsert) {
  EXPECT_EQ(tagged(upsert()), (Recorded{.key = "id", .payload = "p", .headers = {{"reseq-seq", "7"}}}));
}

TEST(Tagger, KeepsAnEmptyPayloadApartFromNone) {
  Change change = upsert();
  change.payload = "";
  EXPECT_EQ(tagged(change).payload, "");
}

// With intake tap a null payload says nothing.
TEST(Tagger, SaysDeleteAlsoWhereThePayloadIsNull) {
  Change change = upsert();
  change.op = Op::kDelete;
  change.payload.reset();
  EXPECT_EQ(tagged(change),
            (Recorded{.key = "id", .payload = std::nullopt, .headers = {{"reseq-seq", "7"}, {"reseq-op", "delete"}}}));
}

TEST(Tagger, SaysDeleteWhenThereIsAPayload) {
  Change change = upsert();
  change.op = Op::kDelete;
  EXPECT_EQ(tagged(change).headers, (Headers{{"reseq-seq", "7"}, {"reseq-op", "delete"}}));
}

TEST(Tagger, WritesTargetsAsACommaListAndTheEpoch) {
  Change change = upsert();
  change.targets = {"search", "catalogue.v2"};
  change.epoch = Epoch(4294967295U);
  EXPECT_EQ(tagged(change).headers,
            (Headers{{"reseq-seq", "7"}, {"reseq-targets", "search,catalogue.v2"}, {"reseq-epoch", "4294967295"}}));
}

TEST(Tagger, TakesEveryByteInAnIdUpToItsLimit) {
  Change change = upsert();
  change.id = std::string("\0\xff\n", 3) + std::string(4093, 'x');
  EXPECT_EQ(tagged(change).key, change.id);
  change.id += 'x';
  EXPECT_THAT(change_refusal(change), HasSubstr("4097 bytes"));
  change.id.clear();
  EXPECT_THAT(change_refusal(change), HasSubstr("empty"));
}

TEST(Tagger, SendsTheSequenceAsItWasWritten) {
  EXPECT_EQ(tagged(upsert(std::uint64_t{18446744073709551615U})).headers.at("reseq-seq"), "18446744073709551615");
  EXPECT_EQ(tagged(upsert("16/B374D848"), SequenceKind::kLsn).headers.at("reseq-seq"), "16/B374D848");
  EXPECT_EQ(tagged(upsert("2024-01-02T03:04:05Z"), SequenceKind::kTimestamp).headers.at("reseq-seq"),
            "2024-01-02T03:04:05Z");
  EXPECT_EQ(tagged(upsert("v0007"), SequenceKind::kText).headers.at("reseq-seq"), "v0007");
}

TEST(Tagger, RefusesASequenceThatIsNotOfTheKind) {
  EXPECT_THAT(change_refusal(upsert("-1")), HasSubstr("kind u64"));
  EXPECT_THAT(change_refusal(upsert("")), HasSubstr("kind u64"));
  EXPECT_THAT(change_refusal(upsert("18446744073709551616")), HasSubstr("kind u64"));
  EXPECT_THAT(change_refusal(upsert(std::uint64_t{7}), SequenceKind::kLsn), HasSubstr("kind lsn"));
  EXPECT_THAT(change_refusal(upsert("yesterday"), SequenceKind::kTimestamp), HasSubstr("kind timestamp"));
  EXPECT_THAT(change_refusal(upsert(std::string(33, 'x')), SequenceKind::kText), HasSubstr("kind text"));
  EXPECT_THAT(change_refusal(upsert(std::uint64_t{7}), SequenceKind::kText), HasSubstr("kind text"));
}

TEST(Tagger, RefusesAnUpsertWithoutPayload) {
  Change change = upsert();
  change.payload.reset();
  EXPECT_THAT(change_refusal(change), HasSubstr("without a payload"));
}

TEST(Tagger, RefusesTargetsThatTheWireCannotCarry) {
  for (const char* name : {"", "a,b", "a b", "*", "\xc3\xa9"}) {
    Change change = upsert();
    change.targets = {"search", name};
    EXPECT_THAT(change_refusal(change), HasSubstr("target name")) << name;
  }
  Change change = upsert();
  change.targets.assign(65, "t");
  EXPECT_THAT(change_refusal(change), HasSubstr("64 targets"));
}

Recorded tagged_with(const tagging::Turn& usual, const Change& change) {
  const auto record = tagging::Tagger(SequenceKind::kU64, usual).tag(change);
  EXPECT_TRUE(record.ok()) << (record.ok() ? "" : record.error().message);
  return record.ok() ? recorded(record.value()) : Recorded{};
}

TEST(Tagger, SaysWhenItsTurnIsAsItWasWritten) {
  Change change = upsert();
  change.turn = {0, "2024-05-01T12:00:00+02:00", "1714557600000"};
  EXPECT_EQ(tagged(change).headers, (Headers{{"reseq-seq", "7"},
                                             {"reseq-priority", "0"},
                                             {"reseq-process-at", "2024-05-01T12:00:00+02:00"},
                                             {"reseq-expires-at", "1714557600000"}}));
}

TEST(Tagger, SaysTheUsualTurnOfChangesThatDoNot) {
  const tagging::Turn usual{9, "5", "6"};
  EXPECT_EQ(
      tagged_with(usual, upsert()).headers,
      (Headers{{"reseq-seq", "7"}, {"reseq-priority", "9"}, {"reseq-process-at", "5"}, {"reseq-expires-at", "6"}}));
  Change change = upsert();
  change.turn = {255, "7", ""};
  EXPECT_EQ(
      tagged_with(usual, change).headers,
      (Headers{{"reseq-seq", "7"}, {"reseq-priority", "255"}, {"reseq-process-at", "7"}, {"reseq-expires-at", "6"}}));
}

TEST(Tagger, LetsNoDeleteExpire) {
  Change change = upsert();
  change.op = Op::kDelete;
  EXPECT_EQ(tagged_with({{}, "", "6"}, change).headers, (Headers{{"reseq-seq", "7"}, {"reseq-op", "delete"}}));
  change.turn.expires_at = "6";
  EXPECT_THAT(change_refusal(change), HasSubstr("a delete does not expire"));
}

TEST(Tagger, RefusesADateThatTheResequencerWould) {
  for (const char* date : {"tomorrow", "-1", "9223372036855", "2024-05-01", "2262-04-12T00:00:00Z"}) {
    Change change = upsert();
    change.turn.process_at = date;
    EXPECT_THAT(change_refusal(change), HasSubstr(date));
    change.turn = {{}, "", date};
    EXPECT_THAT(change_refusal(change), HasSubstr(date));
  }
  Change change = upsert();
  change.turn.process_at = "0";
  EXPECT_EQ(change_refusal(change), "");
  change.turn.expires_at = "0";
  EXPECT_THAT(change_refusal(change), HasSubstr("milliseconds since 1970"));
}

}  // namespace
}  // namespace reseq::test
