// What a sink reads of a document that was given up, and keeps of it.
#include "consumers/sink/marker.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "codec/json_writer.h"

namespace reseq::sink {
namespace {

constexpr std::string_view kNote =
    R"({"reason":"timed_out","error":"no answer","attempts":3,"failed_at":"2026-11-29T15:12:05.123Z"})";

Reading read(std::optional<std::string_view> payload, std::vector<Header> headers, Check check = Check::kVersions) {
  headers.push_back({"reseq-op", "failed"});
  return read_change({.key = "id", .payload = payload, .headers = headers}, check, {});
}

Marker marker(std::string_view note, std::optional<std::string_view> error = std::nullopt) {
  return marker_of({.id = "id", .op = ChangeOp::kFailed, .payload = note, .error = error});
}

TEST(Marker, IsAChangeWithAVersionItsNoteAndItsError) {
  const Change change = std::get<Change>(read(kNote, {{"reseq-version", "7"}, {"reseq-error", "no answer"}}));
  EXPECT_EQ(change.op, ChangeOp::kFailed);
  EXPECT_EQ(change.version, Version(7));
  EXPECT_EQ(change.payload, kNote);
  EXPECT_EQ(change.error, "no answer");
  EXPECT_EQ(std::get<Change>(read(kNote, {{"reseq-version", "7"}})).error, std::nullopt);
}

TEST(Marker, IsRefusedWithoutANoteOrAVersion) {
  EXPECT_EQ(std::get<Malformed>(read(std::nullopt, {{"reseq-version", "7"}})).why, "failed with a null payload");
  EXPECT_EQ(std::get<Malformed>(read(kNote, {})).why, "no reseq-version");
}

TEST(Marker, IsNoneOnCommandsWhichASinkWithoutItsCheckReads) {
  EXPECT_EQ(std::get<Malformed>(read(kNote, {{"reseq-command", "sequence"}}, Check::kOff)).why,
            "reseq-op is neither upsert nor delete");
}

TEST(Marker, SaysWhatItsNoteSays) {
  const Marker read = marker(kNote);
  EXPECT_EQ(read.reason, "timed_out");
  EXPECT_EQ(read.error, "no answer");
  EXPECT_EQ(read.attempts, 3U);
  EXPECT_EQ(read.failed_at, "2026-11-29T15:12:05.123Z");
  EXPECT_EQ(read.why(), "no answer");
  EXPECT_EQ(note_of(read), kNote);
}

TEST(Marker, SaysTheReasonWhereNobodySaidAnError) {
  const Marker read = marker(R"({"reason":"body_gone"})");
  EXPECT_EQ(read.why(), "body_gone");
  EXPECT_EQ(note_of(read), R"({"reason":"body_gone"})");
}

TEST(Marker, CountsWhateverItsNoteHolds) {
  for (const std::string_view note :
       {"", "no JSON", "[]", "7", "null", "{", "{}", "{\"error\":\"\xff\"}",
        R"({"reason":7,"error":{},"attempts":"3","failed_at":null})", R"({"reason":"","attempts":-1})"}) {
    EXPECT_EQ(note_of(marker(note)), R"({"reason":"failed"})") << note;
    EXPECT_EQ(marker(note, "said in the header").why(), "said in the header") << note;
  }
  EXPECT_EQ(marker(R"({"attempts":4294967295})").attempts, 4'294'967'295U);
  EXPECT_FALSE(marker(R"({"attempts":4294967296})").attempts.has_value());
}

TEST(Marker, HasTextsThatEveryStoreTakes) {
  EXPECT_EQ(marker("", "line\nbreak \xc3\xa4 \xf0\x9f\x92\xbe").why(), "line\nbreak \xc3\xa4 \xf0\x9f\x92\xbe");
  EXPECT_EQ(marker("", std::string_view("nul\0", 4)).why(), "nul\xef\xbf\xbd");
  EXPECT_EQ(marker(R"({"error":"a\u0000b"})").why(),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(marker("", "\xff cut \xf0\x9f").why(), "\xef\xbf\xbd cut \xef\xbf\xbd\xef\xbf\xbd");
  const std::string longest = marker("", std::string(kMarkerTextMax - 1, 'x') + "\xc3\xa4 more").why();
  EXPECT_EQ(longest, std::string(kMarkerTextMax - 1, 'x')) << "whole characters only";
  EXPECT_TRUE(codec::is_utf8(marker("", std::string(2'000, '\xff')).why()));
  EXPECT_LE(marker("", std::string(2'000, '\xff')).why().size(), kMarkerTextMax);
}

}  // namespace
}  // namespace reseq::sink
