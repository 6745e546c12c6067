// Records as lines of JSON, and the lines that commands answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "consumers/command/line_buffer.h"
#include "consumers/lines/record_line.h"
#include "consumers/lines/result_line.h"

namespace reseq::lines {
namespace {

using nlohmann::json;
using stage::Answer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kBinary("\xff\x00\xfe", 3);

json line_of(const RecordView& record, PayloadForm form = PayloadForm::kAuto) {
  const std::vector<std::string> targets = {"search"};
  const std::string line = work_line("0-7-1", record, targets, form);
  EXPECT_EQ(line.find('\n'), line.size() - 1) << "a line has one end";
  return json::parse(line);
}

TEST(WorkLine, HasTheWordsOfTheInput) {
  const std::vector<Header> headers = {
      {"reseq-seq", "17"}, {"reseq-epoch", "2"}, {"reseq-targets", "search,catalogue"}, {"traceparent", "00-1"}};
  EXPECT_EQ(line_of({.key = "book-1", .payload = R"({"price":12})", .headers = headers}), json::parse(R"({
    "ticket": "0-7-1", "id": "book-1", "seq": "17", "epoch": 2, "targets": ["search"], "op": "upsert",
    "payload": {"price": 12},
    "headers": {"reseq-seq": "17", "reseq-epoch": "2", "reseq-targets": "search,catalogue", "traceparent": "00-1"}})"));
}

TEST(WorkLine, WritesWhatIsNotUtf8AsBase64) {
  const std::vector<Header> headers = {{"reseq-seq", kBinary}, {"note", kBinary}, {kBinary, "x"}, {"none", {}}};
  const json line = line_of({.key = kBinary, .payload = kBinary, .headers = headers});
  EXPECT_FALSE(line.contains("id"));
  EXPECT_EQ(line["id_base64"], "/wD+");
  EXPECT_EQ(line["seq_base64"], "/wD+");
  EXPECT_EQ(line["payload_base64"], "/wD+");
  EXPECT_EQ(line["headers_base64"]["note"], "/wD+");
  EXPECT_TRUE(line["headers"]["none"].is_null());
}

TEST(WorkLine, SaysDeleteForANullPayloadAndForTheHeader) {
  const std::vector<Header> deletes = {{"reseq-op", "delete"}};
  EXPECT_EQ(line_of({.key = "a", .payload = {}, .headers = {}})["op"], "delete");
  EXPECT_TRUE(line_of({.key = "a", .payload = {}, .headers = {}})["payload"].is_null());
  EXPECT_EQ(line_of({.key = "a", .payload = "x", .headers = deletes})["op"], "delete");
}

TEST(WorkLine, ShowsOnlyObjectsAndListsAsJsonAndOnOneLine) {
  const auto payload = [](std::string_view bytes, PayloadForm form = PayloadForm::kAuto) {
    return line_of({.key = "a", .payload = bytes, .headers = {}}, form);
  };
  EXPECT_EQ(payload("{\n \"a\": [1,\r\n 2]}")["payload"], json::parse(R"({"a": [1, 2]})"));
  EXPECT_EQ(payload("12")["payload"], "12");
  EXPECT_EQ(payload("\"x\"")["payload"], "\"x\"");
  EXPECT_EQ(payload("[draft] of\na text")["payload"], "[draft] of\na text");
  EXPECT_EQ(payload("")["payload"], "");
  EXPECT_EQ(payload("{}", PayloadForm::kText)["payload"], "{}");
  EXPECT_EQ(payload("{}", PayloadForm::kBase64)["payload_base64"], "e30=");
}

TEST(WorkLine, ShowsTheLastOfADoubledHeader) {
  const std::vector<Header> headers = {{"a", "1"}, {"a", kBinary}, {"b", kBinary}, {"b", "2"}};
  const json line = line_of({.key = "x", .payload = "y", .headers = headers});
  EXPECT_EQ(line["headers"], json::parse(R"({"b": "2"})"));
  EXPECT_EQ(line["headers_base64"], json::parse(R"({"a": "/wD+"})"));
}

TEST(OutputLine, HasVersionAndPlace) {
  const std::vector<Header> headers = {{"reseq-seq", "1"}, {"reseq-version", "117653908421017601"}};
  const json line = json::parse(
      output_line({.key = "a", .payload = "x", .headers = headers}, Partition(3), Offset(9), PayloadForm::kAuto));
  EXPECT_EQ(line["version"], "117653908421017601");
  EXPECT_EQ(line["partition"], 3);
  EXPECT_EQ(line["offset"], 9);
  EXPECT_FALSE(line.contains("epoch"));
}

TEST(OutputLine, TellsAMarkerFromADocument) {
  const std::vector<Header> headers = {{"reseq-version", "7"}, {"reseq-op", "failed"}, {"reseq-error", "not a PDF"}};
  const auto read = [](std::span<const Header> of) {
    const RecordView record = {.key = "a", .payload = R"({"reason":"failed"})", .headers = of};
    return json::parse(output_line(record, Partition(0), Offset(0), PayloadForm::kAuto));
  };
  const json line = read(headers);
  EXPECT_EQ(line["op"], "failed");
  EXPECT_EQ(line["error"], "not a PDF");
  EXPECT_EQ(line["payload"]["reason"], "failed");
  EXPECT_TRUE(read(std::span(headers).first(2))["error"].is_null()) << "nobody said one";
  EXPECT_FALSE(read(std::span(headers).first(1)).contains("error"));
}

ResultLine good(std::string_view line) {
  Result<ResultLine> parsed = parse_result_line(line);
  EXPECT_TRUE(parsed) << line;
  return parsed ? std::move(parsed).value() : ResultLine{};
}

TEST(ResultLine, IsAResultForAllTargetsUnlessItSaysMore) {
  const ResultLine line = good(R"({"ticket":"t","payload":{"n":12345678901234567890.10}})");
  EXPECT_EQ(line.ticket, "t");
  EXPECT_EQ(line.answer, Answer::kSequence);
  EXPECT_EQ(line.op, Op::kUpsert);
  EXPECT_EQ(line.payload, R"({"n":12345678901234567890.10})") << "byte by byte";
  EXPECT_THAT(line.targets, IsEmpty());
  EXPECT_TRUE(line.done);
  EXPECT_EQ(good(R"({"ticket":"t","payload":"text"})").payload, "text");
  EXPECT_EQ(good(R"({"ticket":"t","payload_base64":"/wD+"})").payload, kBinary);
}

TEST(ResultLine, DeletesWithANullPayloadOrTheWord) {
  EXPECT_EQ(good(R"({"ticket":"t","payload":null})").op, Op::kDelete);
  const ResultLine line = good(R"({"ticket":"t","op":"delete","payload":"ignored"})");
  EXPECT_EQ(line.op, Op::kDelete);
  EXPECT_FALSE(line.payload);
}

TEST(ResultLine, MayBeOneOfSeveralOrOnlyTheLast) {
  EXPECT_FALSE(good(R"({"ticket":"t","payload":"x","targets":["search"],"done":false})").done);
  EXPECT_FALSE(good(R"({"ticket":"t","done":true})").answer);
}

TEST(ResultLine, MayUnregisterAndRegister) {
  const ResultLine line = good(R"({"ticket":"t","command":"unregister","targets":["catalogue"]})");
  EXPECT_EQ(line.answer, Answer::kUnregister);
  EXPECT_THAT(line.targets, ElementsAre("catalogue"));
  EXPECT_FALSE(line.op);
  EXPECT_EQ(good(R"({"ticket":"t","command":"register","targets":["more"]})").answer, Answer::kRegister);
}

TEST(ResultLine, MaySayWhatFailed) {
  const ResultLine line = good(
      R"({"ticket":"t","command":"fail","failure":"permanent","failure_scope":"universal","error":"no \"PDF\"",
          "targets":["catalogue"]})");
  EXPECT_EQ(line.answer, Answer::kFail);
  EXPECT_EQ(line.failure.kind, FailureKind::kPermanent);
  EXPECT_EQ(line.failure.scope, FailureScope::kUniversal);
  EXPECT_EQ(line.failure.error, "no \"PDF\"");
  EXPECT_THAT(line.targets, ElementsAre("catalogue"));
  EXPECT_TRUE(line.done);
  EXPECT_EQ(good(R"({"ticket":"t","command":"fail","failure":"transient"})").failure.kind, FailureKind::kTransient);
  for (const char* least : {R"({"ticket":"t","command":"fail"})",
                            R"({"ticket":"t","command":"fail","failure":"unknown","failure_scope":"document"})"}) {
    EXPECT_EQ(good(least).failure.kind, FailureKind::kUnknown);
    EXPECT_EQ(good(least).failure.scope, FailureScope::kDocument);
    EXPECT_EQ(good(least).failure.error, "");
    EXPECT_FALSE(good(least).failure.without_effect);
  }
}

TEST(ResultLine, MaySayThatNothingWasDone) {
  EXPECT_TRUE(good(R"({"ticket":"t","command":"fail","effect":"none"})").failure.without_effect);
}

TEST(ResultLine, MayBeTheWorkLineWithAnotherPayload) {
  const std::vector<Header> headers = {
      {"reseq-seq", "17"}, {"reseq-op", "upsert"}, {"traceparent", "00-1"}, {"raw", kBinary}, {"none", {}}};
  const std::vector<std::string> targets = {"search"};
  const ResultLine line =
      good(work_line("t", {.key = kBinary, .payload = "x", .headers = headers}, targets, PayloadForm::kAuto));
  EXPECT_EQ(line.payload, "x");
  ASSERT_EQ(line.headers.size(), 3U) << "what the contract names is copied by the stage";
  EXPECT_EQ(line.headers[0].name, "traceparent");
  EXPECT_EQ(line.headers[1].name, "none");
  EXPECT_EQ(line.headers[1].value, std::nullopt);
  EXPECT_EQ(line.headers[2].value, kBinary);
}

TEST(ResultLine, MaySayWhatVersionItHasSeen) {
  const ResultLine line = good(R"({"ticket":"t","payload":"x","headers":{"reseq-observed-version":"7"}})");
  ASSERT_EQ(line.headers.size(), 1U);
  EXPECT_EQ(line.headers[0].name, "reseq-observed-version");
}

TEST(ResultLine, IsRefusedWithAReason) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"hello", "not valid JSON"},
      {"", "not valid JSON"},
      {"[1]", "not a JSON object"},
      {R"({"payload":"x"})", "needs 'ticket'"},
      {R"({"ticket":7,"payload":"x"})", "needs 'ticket'"},
      {R"({"ticket":"t"})", "needs 'payload', 'op', 'command' or 'done'"},
      {R"({"ticket":"t","op":"upsert"})", "there is no payload"},
      {R"({"ticket":"t","op":"upsert","payload":null})", "there is no payload"},
      {R"({"ticket":"t","command":"sequence"})", "needs 'payload'"},
      {R"({"ticket":"t","command":"remove"})", "'command' is none of"},
      {R"({"ticket":"t","command":"register"})", "needs 'targets'"},
      {R"({"ticket":"t","command":"fail","failure":"fatal"})", "'failure' is none of"},
      {R"({"ticket":"t","command":"fail","failure":null})", "'failure' is none of"},
      {R"({"ticket":"t","command":"fail","failure_scope":"all"})", "'failure_scope' is neither"},
      {R"({"ticket":"t","command":"fail","error":7})", "'error' is not a text"},
      {R"({"ticket":"t","command":"fail","effect":"some"})", "'effect' is not 'none'"},
      {R"({"ticket":"t","command":"fail","effect":null})", "'effect' is not 'none'"},
      {R"({"ticket":"t","command":"fail","effect":["none"]})", "'effect' is not 'none'"},
      {R"({"ticket":"t","payload":"x","effect":"none"})", "'effect' is for the command 'fail'"},
      {R"({"ticket":"t","payload":"x","error":"no PDF"})", "'error' is for the command 'fail'"},
      {R"({"ticket":"t","command":"unregister","failure":"permanent"})", "'failure' is for the command 'fail'"},
      {R"({"ticket":"t","payload":"x","targets":[]})", "'targets' is not a list"},
      {R"({"ticket":"t","payload":"x","targets":"search"})", "'targets' is not a list"},
      {R"({"ticket":"t","payload":"x","done":1})", "'done' is neither"},
      {R"({"ticket":"t","payload":"x","headers":[]})", "'headers' is not an object"},
      {R"({"ticket":"t","payload":"x","headers":{"a":1}})", "a value of 'headers' is not text"},
      {R"({"ticket":"t","payload":"x","headers_base64":{"a":"?"}})", "a value of 'headers_base64' is not base64"},
      {R"({"ticket":"t","payload":"x","payload_base64":""})", "has both"},
      {R"({"ticket":"t","payload":"x","result":"y"})", "unknown member 'result'"},
      {R"({"ticket":"t","ticket":"u","payload":"x"})", "comes twice"},
  };
  for (const auto& [line, why] : refused) {
    const Result<ResultLine> parsed = parse_result_line(line);
    ASSERT_FALSE(parsed) << line;
    EXPECT_THAT(parsed.error().message, HasSubstr(why)) << line;
  }
}

std::vector<std::string> all(command::LineBuffer& buffer) {
  std::vector<std::string> lines;
  while (const auto line = buffer.next()) lines.push_back(line->too_long ? "(too long)" : line->text);
  return lines;
}

TEST(LineBuffer, PutsPiecesTogether) {
  command::LineBuffer buffer;
  buffer.add("on");
  EXPECT_THAT(all(buffer), IsEmpty());
  buffer.add("e\ntwo\nthr");
  EXPECT_THAT(all(buffer), ElementsAre("one", "two"));
  buffer.add("ee");
  EXPECT_EQ(buffer.rest()->text, "three");
  EXPECT_FALSE(buffer.rest());
}

TEST(LineBuffer, DropsALineThatIsTooLongAndGoesOnBehindIt) {
  command::LineBuffer buffer;
  const std::string piece(command::LineBuffer::kLineBytesMax / 2 + 1, 'x');
  for (int i = 0; i < 3; ++i) {
    buffer.add(piece);
    EXPECT_THAT(all(buffer), IsEmpty());
  }
  buffer.add("\nnext\n");
  EXPECT_THAT(all(buffer), ElementsAre("(too long)", "next"));
}

}  // namespace
}  // namespace reseq::lines
