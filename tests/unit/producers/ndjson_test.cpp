#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "producers/ndjson/line_parser.h"
#include "producers/ndjson/ndjson_source.h"
#include "tests/support/process.h"

namespace reseq::test {
namespace {

using ndjson::NdjsonOptions;
using ndjson::NdjsonSource;
using ndjson::parse_line;
using testing::ElementsAre;
using testing::HasSubstr;

tagging::Change parsed(const std::string& line) {
  auto change = parse_line(line);
  EXPECT_TRUE(change.ok()) << line << (change.ok() ? "" : change.error().message);
  return change.ok() ? std::move(change).value() : tagging::Change{};
}

std::string line_refusal(const std::string& line) {
  const auto change = parse_line(line);
  return change.ok() ? "" : change.error().message;
}

TEST(NdjsonLine, ReadsEveryMember) {
  const auto change = parsed(R"( {"epoch": 3, "id":"d\u00fc\n", "seq": 18446744073709551615, )"
                             R"("targets": ["a","b"], "op":"upsert", "payload":"\"x"} )");
  EXPECT_EQ(change.id, "d\xc3\xbc\n");
  EXPECT_EQ(std::get<std::uint64_t>(change.sequence), 18446744073709551615U);
  EXPECT_EQ(change.payload, "\"x");
  EXPECT_THAT(change.targets, ElementsAre("a", "b"));
  EXPECT_EQ(change.epoch, Epoch(3));
}

TEST(NdjsonLine, ReadsWhenItsTurnIs) {
  const auto change = parsed(R"({"id":"a","seq":1,"payload":1,"priority":255,)"
                             R"("process_at":1714557600000,"expires_at":"2024-05-01T12:00:00Z"})");
  EXPECT_EQ(change.turn.priority, 255);
  EXPECT_EQ(change.turn.process_at, "1714557600000");
  EXPECT_EQ(change.turn.expires_at, "2024-05-01T12:00:00Z");
  const auto without = parsed(R"({"id":"a","seq":1,"payload":1})").turn;
  EXPECT_FALSE(without.priority);
  EXPECT_EQ(without.process_at + without.expires_at, "");
}

TEST(NdjsonLine, SendsAPayloadOfJsonByteByByte) {
  const std::string payload = R"({"z":1.10, "a":[123456789012345678901234567890, "}\"]" ],"e":1e2})";
  EXPECT_EQ(parsed(R"({"payload":)" + payload + R"(  ,"id":"a","seq":"1"})").payload, payload);
  EXPECT_EQ(parsed(R"({"id":"a","seq":"1","payload":false})").payload, "false");
  EXPECT_EQ(parsed(R"({"id":"a","seq":"1","payload": -0 })").payload, "-0");
  EXPECT_EQ(parsed(R"({"id":"a","seq":"1","payload":""})").payload, "");
}

TEST(NdjsonLine, ReadsADeleteWithAndWithoutPayload) {
  for (const char* line : {R"({"id":"a","seq":1,"op":"delete"})", R"({"id":"a","seq":1,"payload":null})",
                           R"({"id":"a","seq":1,"op":"delete","payload":null})"}) {
    EXPECT_EQ(parsed(line).op, Op::kDelete) << line;
    EXPECT_EQ(parsed(line).payload, std::nullopt) << line;
  }
  const auto change = parsed(R"({"id":"a","seq":1,"op":"delete","payload":{}})");
  EXPECT_EQ(change.op, Op::kDelete);
  EXPECT_EQ(change.payload, "{}");
}

TEST(NdjsonLine, ReadsBytesInBase64) {
  const auto change = parsed(R"({"id_base64":"/w==","seq":1,"payload_base64":"AAEC"})");
  EXPECT_EQ(change.id, "\xff");
  EXPECT_EQ(change.payload, std::string("\0\1\2", 3));
}

TEST(NdjsonLine, RefusesWhatItCannotSendWithAReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"{", "not valid JSON"},
      {R"({"id":"a","seq":1,"payload":"x"} x)", "not valid JSON"},
      {"{\"id\":\"\xff\",\"seq\":1,\"payload\":\"x\"}", "not valid JSON"},
      {"[1]", "not a JSON object"},
      {"{}", "'id' and 'id_base64'"},
      {R"({"id":"a","id_base64":"YQ==","seq":1,"payload":1})", "'id' and 'id_base64'"},
      {R"({"id":7,"seq":1,"payload":1})", "'id' is not text"},
      {R"({"id_base64":"?","seq":1,"payload":1})", "not base64"},
      {R"({"id":"a","payload":1})", "needs 'seq'"},
      {R"({"id":"a","seq":1.5,"payload":1})", "'seq'"},
      {R"({"id":"a","seq":18446744073709551616,"payload":1})", "'seq'"},
      {R"({"id":"a","seq":null,"payload":1})", "'seq'"},
      {R"({"id":"a","seq":1})", "needs 'payload'"},
      {R"({"id":"a","seq":1,"op":"remove"})", "'op'"},
      {R"({"id":"a","seq":1,"payload":1,"payload_base64":"AA=="})", "both"},
      {R"({"id":"a","seq":1,"payload_base64":"AA="})", "'payload_base64' is not base64"},
      {R"({"id":"a","seq":1,"payload":1,"targets":"x"})", "'targets'"},
      {R"({"id":"a","seq":1,"payload":1,"targets":[]})", "'targets'"},
      {R"({"id":"a","seq":1,"payload":1,"targets":[1]})", "'targets'"},
      {R"({"id":"a","seq":1,"payload":1,"epoch":4294967296})", "'epoch'"},
      {R"({"id":"a","seq":1,"payload":1,"epoch":-1})", "'epoch'"},
      {R"({"id":"a","seq":1,"payload":1,"priority":256})", "'priority'"},
      {R"({"id":"a","seq":1,"payload":1,"priority":"1"})", "'priority'"},
      {R"({"id":"a","seq":1,"payload":1,"process_at":-1})", "'process_at'"},
      {R"({"id":"a","seq":1,"payload":1,"process_at":""})", "'process_at'"},
      {R"({"id":"a","seq":1,"payload":1,"expires_at":1.5})", "'expires_at'"},
      {R"({"id":"a","seq":1,"payload":1,"expires_at":null})", "'expires_at'"},
      {R"({"id":"a","seq":1,"payload":1,"sequence":1})", "unknown member 'sequence'"},
      {R"({"id":"a","seq":1,"payload":1,"seq":2})", "'seq' comes twice"},
  };
  for (const auto& [line, reason] : cases) EXPECT_THAT(line_refusal(line), HasSubstr(reason)) << line;
}

class NdjsonFile : public testing::Test {
 protected:
  std::unique_ptr<NdjsonSource> open(const std::string& text,
                                     std::size_t line_bytes_max = NdjsonOptions().line_bytes_max) {
    std::ofstream(path_, std::ios::binary) << text;
    NdjsonOptions options{.targets = {"t"}, .epoch = Epoch(5), .line_bytes_max = line_bytes_max};
    return std::move(NdjsonSource::open(path_, std::move(options))).value();
  }
  // id, or "line N: reason".
  static std::vector<std::string> rest_of(NdjsonSource& source) {
    std::vector<std::string> seen;
    for (;;) {
      const auto next = source.next();
      EXPECT_TRUE(next.ok());
      if (!next.ok() || !next.value().has_value()) return seen;
      const auto* change = std::get_if<tagging::Change>(&*next.value());
      seen.push_back(change != nullptr ? change->id
                                       : source.place() + ": " + std::get<sending::Unusable>(*next.value()).reason);
    }
  }
  static std::string line(const std::string& id) { return R"({"id":")" + id + R"(","seq":1,"payload":"x"})"; }

  TempDir folder_;
  std::string path_ = folder_.path() + "/lines";
};

TEST_F(NdjsonFile, CountsLinesAndPassesOverEmptyOnes) {
  const auto source = open(line("a") + "\r\n\n  \nbad\n" + line("b"));
  EXPECT_EQ(source->items_to_come(), 3U);
  EXPECT_THAT(rest_of(*source), ElementsAre("a", "line 4: not valid JSON", "b"));
}

TEST_F(NdjsonFile, GivesLinesTheDefaultsTheyDoNotSet) {
  const auto source = open(line("a") + "\n" + R"({"id":"b","seq":1,"op":"delete","targets":["u"],"epoch":6})");
  const auto first = source->next();
  EXPECT_THAT(std::get<tagging::Change>(*first.value()).targets, ElementsAre("t"));
  EXPECT_EQ(std::get<tagging::Change>(*first.value()).epoch, Epoch(5));
  const auto second = source->next();
  EXPECT_THAT(std::get<tagging::Change>(*second.value()).targets, ElementsAre("u"));
  EXPECT_EQ(std::get<tagging::Change>(*second.value()).epoch, Epoch(6));
}

TEST_F(NdjsonFile, GoesOnBehindTheMarkInAFileThatGrew) {
  const std::string begin = line("a") + "\n\n" + line("b") + "\n\n";
  const auto first = open(begin);
  EXPECT_THAT(rest_of(*first), ElementsAre("a", "b"));
  const auto second = open(begin + line("c") + "\n");
  ASSERT_TRUE(second->resume_after(first->mark()).ok());
  EXPECT_EQ(second->items_to_come(), 1U);
  EXPECT_THAT(rest_of(*second), ElementsAre("c"));
}

TEST_F(NdjsonFile, RefusesToGoOnInAnotherFile) {
  const auto first = open(line("a") + "\n" + line("b") + "\n");
  (void)rest_of(*first);
  EXPECT_FALSE(open(line("a") + "\n" + line("x") + "\n")->resume_after(first->mark()).ok());
  EXPECT_FALSE(open(line("a") + "\n")->resume_after(first->mark()).ok());
}

TEST_F(NdjsonFile, ReadsALineOfTheLimitAndReportsALongerOne) {
  EXPECT_EQ(NdjsonOptions().line_bytes_max, 67'108'864U);
  const std::string frame = line("");
  constexpr std::size_t kMax = std::size_t{1} << 20;  // several reads
  const std::string longest = line(std::string(kMax - frame.size(), 'x'));
  const auto source = open(line("a") + "\n" + longest + "\n" + longest + "x\n" + line("b") + "\n", kMax);
  EXPECT_EQ(source->items_to_come(), 4U);
  const std::vector<std::string> seen = rest_of(*source);
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen[1].size(), kMax - frame.size());
  EXPECT_EQ(seen[2], "line 3: longer than 1048576 bytes");
  EXPECT_EQ(seen[3], "b");
}

TEST_F(NdjsonFile, IsRefusedWhenItCannotBeRead) {
  EXPECT_FALSE(NdjsonSource::open(folder_.path() + "/absent", {}).ok());
}

}  // namespace
}  // namespace reseq::test
