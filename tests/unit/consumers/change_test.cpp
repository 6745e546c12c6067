// What a sink reads from the headers of a record.
#include "consumers/sink/change.h"

#include <gtest/gtest.h>
#include <vector>

namespace reseq::sink {
namespace {

using Headers = std::vector<Header>;

Reading read(std::optional<std::string_view> key, std::optional<std::string_view> payload, const Headers& headers,
             Check check = Check::kVersions, std::string_view target = {}) {
  return read_change({.key = key, .payload = payload, .headers = headers}, check, target);
}

std::string_view why(const Reading& reading) {
  const auto* malformed = std::get_if<Malformed>(&reading);
  return malformed ? malformed->why : "not malformed";
}

TEST(Change, ReadsVersionSequenceAndPayloadOfARelease) {
  const Headers headers = {{"reseq-seq", "9"}, {"reseq-op", "upsert"}, {"reseq-version", "123"}};
  const Change change = std::get<Change>(read("id", "text", headers));
  EXPECT_EQ(change.id, "id");
  EXPECT_EQ(change.seq, "9");
  EXPECT_EQ(change.version, Version(123));
  EXPECT_EQ(change.op, ChangeOp::kUpsert);
  EXPECT_EQ(change.payload, "text");
}

TEST(Change, DeleteHasNoPayloadEvenWhenTheRecordHasOne) {
  const Headers headers = {{"reseq-op", "delete"}, {"reseq-version", "1"}};
  const Change change = std::get<Change>(read("id", "left over", headers));
  EXPECT_EQ(change.op, ChangeOp::kDelete);
  EXPECT_FALSE(change.payload.has_value());
}

TEST(Change, EmptyPayloadIsNotNull) {
  const Headers headers = {{"reseq-version", "1"}};
  EXPECT_EQ(std::get<Change>(read("id", "", headers)).op, ChangeOp::kUpsert);
  EXPECT_EQ(std::get<Change>(read("id", std::nullopt, headers)).op, ChangeOp::kDelete);
}

TEST(Change, TheIdHeaderWinsOverTheKey) {
  const Headers headers = {{"reseq-id", "child"}, {"reseq-version", "1"}};
  EXPECT_EQ(std::get<Change>(read("root", "x", headers)).id, "child");
}

TEST(Change, RefusesRecordsOutsideTheContractWithTheReason) {
  EXPECT_EQ(why(read("id", "x", {})), "no reseq-version");
  for (const std::string_view bad : {"", "0", "-1", "+1", " 1", "1x", "9223372036854775808", "99999999999999999999"})
    EXPECT_EQ(why(read("id", "x", {{"reseq-version", bad}})), "reseq-version is not a number between 1 and 2^63 - 1")
        << bad;
  EXPECT_EQ(why(read(std::nullopt, "x", {{"reseq-version", "1"}})), "neither key nor reseq-id");
  EXPECT_EQ(why(read("", "x", {{"reseq-version", "1"}})), "empty id");
  EXPECT_EQ(why(read(std::string(4097, 'a'), "x", {{"reseq-version", "1"}})), "id longer than 4096 bytes");
  EXPECT_EQ(why(read("id", "x", {{"reseq-version", "1"}, {"reseq-op", "Delete"}})),
            "reseq-op is neither upsert nor delete");
  EXPECT_EQ(why(read("id", std::nullopt, {{"reseq-version", "1"}, {"reseq-op", "upsert"}})),
            "upsert with a null payload");
}

TEST(Change, AcceptsTheLimitsOfVersionAndId) {
  EXPECT_EQ(std::get<Change>(read("id", "x", {{"reseq-version", "9223372036854775807"}})).version,
            Version(9223372036854775807U));
  const std::string longest(4096, 'a');
  EXPECT_EQ(std::get<Change>(read(longest, "x", {{"reseq-version", "1"}})).id, longest);
}

TEST(Change, OfADoubledVersionTheLastCounts) {
  const Headers headers = {{"reseq-version", "5"}, {"reseq-version", "6"}};
  EXPECT_EQ(std::get<Change>(read("id", "x", headers)).version, Version(6));
}

TEST(Change, UncheckedReadsOnlyResultsOfItsTarget) {
  const auto unchecked = [](const Headers& headers) { return read("id", "x", headers, Check::kOff, "search"); };
  EXPECT_TRUE(std::holds_alternative<Change>(unchecked({{"reseq-command", "sequence"}, {"reseq-target", "search"}})));
  EXPECT_TRUE(std::holds_alternative<Change>(unchecked({{"reseq-command", "sequence"}})));
  EXPECT_TRUE(std::holds_alternative<NotForUs>(unchecked({{"reseq-command", "sequence"}, {"reseq-target", "other"}})));
  EXPECT_TRUE(std::holds_alternative<NotForUs>(unchecked({{"reseq-command", "register"}})));
  EXPECT_TRUE(std::holds_alternative<NotForUs>(unchecked({})));
}

}  // namespace
}  // namespace reseq::sink
