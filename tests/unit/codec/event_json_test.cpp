#include "codec/event_json.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>
#include <set>

#include "codec/json_writer.h"
#include "codec/sequence_text.h"
#include "row_generators.h"
#include "sample_record.h"
#include "tests/support/source_path.h"

namespace reseq::codec {
namespace {

using nlohmann::json;

EncodeContext encode_context(SequenceKind kind = SequenceKind::kU64) {
  return {&two_targets(), kind, DeadLetterHeaders::kReseq, "shop.commands", UINT64_MAX};
}

Event dropped(DocumentId id) {
  Event event;
  event.id = id;
  event.decision = {Outcome::kDropped, Reason::kSuperseded, TableRow::kS4};
  event.order = Order{Epoch(1), kSeven, Revision(2)};
  event.expected = Order{Epoch(1), Sequence(std::string(8, '\xFF')), Revision()};
  event.target = kCatalogue;
  event.version = Version(112'000'000'000'000'001);
  return event;
}

// Every member the schema allows.
void expect_in_schema(const json& value, const json& schema, const json& root) {
  const json& object = schema.contains("$ref") ? root.at("$defs").at("order") : schema;
  for (const auto& [name, member] : value.items()) {
    ASSERT_TRUE(object.at("properties").contains(name)) << name;
    if (member.is_object()) expect_in_schema(member, object.at("properties").at(name), root);
  }
  for (const auto& name : object.value("required", json::array())) EXPECT_TRUE(value.contains(name)) << name;
}

json schema() {
  std::ifstream file(test::source_path("schemas/events.schema.json"));
  return json::parse(file);
}

template <std::size_t N>
std::set<std::string> all(const std::array<std::string_view, N>& names, std::string_view but) {
  std::set<std::string> found(names.begin(), names.end());
  found.erase(std::string(but));
  return found;
}

TEST(EventJson, TellsAnOutcomeInOneLine) {
  const SampleRecord sample = SampleRecord::command("sequence");
  const InputRecord input = sample.view();
  Arena arena;
  const Event event = dropped("doc-1");
  const OutputRecord record = encode(event, &input, encode_context(), arena);
  EXPECT_EQ(record.role, Role::kEvents);
  EXPECT_EQ(record.key, "doc-1");
  EXPECT_FALSE(record.takes_input_headers);
  EXPECT_TRUE(record.edits.empty());
  EXPECT_EQ(*record.payload,
            R"({"kind":"outcome","id":"doc-1","outcome":"dropped","reason":"superseded","table_row":"S4",)"
            R"("order":{"epoch":1,"seq":"7","revision":"2"},)"
            R"("expected":{"epoch":1,"seq":"18446744073709551615","revision":"0"},)"
            R"("target":"catalogue","version":"112000000000000001",)"
            R"("source":{"topic":"shop.commands","partition":0,"offset":42}})");
}

TEST(EventJson, OfATimerNamesNoInputAndNoOutcome) {
  Event event;
  event.kind = EventKind::kOverdue;
  event.id = "doc-1";
  Arena arena;
  const OutputRecord record = encode(event, nullptr, encode_context(), arena);
  EXPECT_EQ(*record.payload, R"({"kind":"overdue","id":"doc-1"})");
  event.targets = TargetSet(3);
  EXPECT_EQ(*encode(event, nullptr, encode_context(), arena).payload,
            R"({"kind":"overdue","id":"doc-1","targets":["search","catalogue"]})");
}

TEST(EventJson, OfALostLeaseSaysWhichOrderWaitsAgainAndForWhat) {
  Event event;
  event.kind = EventKind::kLeaseLost;
  event.id = "doc-1";
  event.decision = {Outcome::kWaiting, Reason::kNone, TableRow::kNone};
  event.order = Order{Epoch(1), kSeven, Revision(2)};
  event.targets = TargetSet(3);
  Arena arena;
  EXPECT_EQ(event_json(event, nullptr, encode_context(), arena),
            R"({"kind":"lease_lost","id":"doc-1","outcome":"waiting","order":{"epoch":1,"seq":"7","revision":"2"},)"
            R"("targets":["search","catalogue"]})");
}

TEST(EventJson, OfADispatchSaysForWhatWithWhichAttemptAndWhereItIsFrom) {
  const SampleRecord sample = SampleRecord::request().with("reseq-source", std::string(255, 'x') + "\u00e4");
  const InputRecord input = sample.view();
  Event event;
  event.id = "doc-1";
  event.decision = {Outcome::kForwarded, Reason::kNone, TableRow::kR1};
  event.targets = TargetSet(3);
  event.attempt = 2;
  Arena arena;
  const json value = json::parse(event_json(event, &input, encode_context(), arena));
  EXPECT_EQ(value.at("targets"), json({"search", "catalogue"}));
  EXPECT_EQ(value.at("attempt"), 2);
  EXPECT_EQ(value.at("document_source"), std::string(255, 'x')) << "no character is cut";
  expect_in_schema(value, schema(), schema());
  const SampleRecord bytes = SampleRecord::request().with("reseq-source", "\xFF");
  const InputRecord no_text = bytes.view();
  EXPECT_EQ(json::parse(event_json(event, &no_text, encode_context(), arena)).at("document_source_base64"), "/w==");
}

TEST(EventJson, OfWhatWaitedAndWasDroppedSaysWhereItIsFromWhereThatIsKnown) {
  Event event;
  event.id = "doc-1";
  event.decision = {Outcome::kDropped, Reason::kExpired, TableRow::kNone};
  event.document_source = "crawler/7";
  Arena arena;
  EXPECT_EQ(event_json(event, nullptr, encode_context(), arena),
            R"({"kind":"outcome","id":"doc-1","outcome":"dropped","reason":"expired","document_source":"crawler/7"})");
}

TEST(EventJson, OfWhatWaitedAndWasDroppedNamesNoInput) {
  Event event;
  event.id = "doc-1";
  event.decision = {Outcome::kDropped, Reason::kExpired, TableRow::kNone};
  event.order = Order{Epoch(1), kSeven, Revision(2)};
  event.targets = TargetSet(1);
  Arena arena;
  EXPECT_EQ(event_json(event, nullptr, encode_context(), arena),
            R"({"kind":"outcome","id":"doc-1","outcome":"dropped","reason":"expired",)"
            R"("order":{"epoch":1,"seq":"7","revision":"2"},"targets":["search"]})");
}

TEST(EventJson, OfAResetHasAnEpochAndNoKey) {
  Event event;
  event.kind = EventKind::kReset;
  event.decision = {Outcome::kApplied, Reason::kNone, TableRow::kControl};
  event.order = Order{Epoch(9), {}, {}};
  Arena arena;
  const OutputRecord record = encode(event, nullptr, encode_context(), arena);
  EXPECT_FALSE(record.key);
  EXPECT_EQ(*record.payload, R"({"kind":"reset","outcome":"applied","table_row":"control",)"
                             R"("order":{"epoch":9,"revision":"0"}})");
}

TEST(EventJson, OfAnOperationSaysWhichAndThatItWasTriedOnly) {
  const SampleRecord sample =
      SampleRecord(Role::kControl).with("reseq-control", "pause").with("reseq-control-id", "ticket \xFF");
  const InputRecord input = sample.view();
  Event event;
  event.input = InputIndex(0);
  event.kind = EventKind::kOperation;
  event.dry_run = true;
  event.decision = {Outcome::kApplied, Reason::kNone, TableRow::kControl};
  Arena arena;
  EXPECT_EQ(event_json(event, &input, encode_context(), arena),
            R"({"kind":"operation","operation":"pause","control_id_base64":"dGlja2V0IP8=","dry_run":true,)"
            R"("outcome":"applied","table_row":"control",)"
            R"("source":{"topic":"shop.commands","partition":0,"offset":42}})");
}

TEST(EventJson, OfAnOperationThatIsRefusedIsNoLongerThanItsTopicTakes) {
  const std::string junk(1'000'000, '\x01');
  const SampleRecord sample = SampleRecord(Role::kControl).with("reseq-control", junk).with("reseq-control-id", junk);
  const InputRecord input = sample.view();
  Event event;
  event.input = InputIndex(0);
  event.kind = EventKind::kOperation;
  Arena arena;
  EXPECT_LT(event_json(event, &input, encode_context(), arena).size(), 5'000U);
}

TEST(EventJson, TellsTheTraceOfItsInputWhenItIsOne) {
  constexpr const char* kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  Arena arena;
  for (const char* value : {kTrace, "\"} no trace", ""}) {
    const SampleRecord sample = SampleRecord::command("sequence").with("traceparent", value);
    const InputRecord input = sample.view();
    const json parsed = json::parse(event_json(dropped("doc-1"), &input, encode_context(), arena));
    EXPECT_EQ(parsed.value("traceparent", ""), value == kTrace ? kTrace : "");
  }
}

TEST(EventJson, TellsTheStateOfATraceThatIsOne) {
  constexpr const char* kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  Arena arena;
  const auto told = [&](const char* parent, const std::string& state) {
    const SampleRecord sample = SampleRecord::command("sequence").with("traceparent", parent).with("tracestate", state);
    const InputRecord input = sample.view();
    return json::parse(event_json(dropped("doc-1"), &input, encode_context(), arena)).value("tracestate", "none");
  };
  const std::string longest(512, '~');
  EXPECT_EQ(told(kTrace, "rojo=00f0,\"congo\"=t61"), "rojo=00f0,\"congo\"=t61");
  EXPECT_EQ(told(kTrace, longest), longest);
  EXPECT_EQ(told(kTrace, longest + "~"), "none");
  EXPECT_EQ(told(kTrace, "a=\x1b[31m"), "none");
  EXPECT_EQ(told(kTrace, ""), "none");
  EXPECT_EQ(told("no trace", "rojo=00f0"), "none");
}

TEST(EventJson, WritesBytesThatAreNoTextInBase64) {
  Arena arena;
  Event event = dropped("\xFF\xFE\xFD");
  event.order->sequence = Sequence("\x80");
  event.expected.reset();
  const json parsed = json::parse(event_json(event, nullptr, encode_context(SequenceKind::kText), arena));
  EXPECT_EQ(parsed.at("id_base64"), "//79");
  EXPECT_FALSE(parsed.contains("id"));
  EXPECT_EQ(parsed.at("order").at("seq_base64"), "gA==");
}

RC_GTEST_PROP(EventJson, IsJsonForEveryId, ()) {
  const std::string id = any_bytes(1, 40);
  Arena arena;
  const json parsed = json::parse(event_json(dropped(id), nullptr, encode_context(), arena));
  if (is_utf8(id)) RC_ASSERT(parsed.at("id").get<std::string>() == id);
  RC_ASSERT(parsed.contains("id") != parsed.contains("id_base64"));
}

RC_GTEST_PROP(Utf8, IsWhatAnotherLibraryTakesForIt, ()) {
  std::string bytes = any_bytes(0, 12);
  for (char& c : bytes)
    if (c == '"' || c == '\\' || (c >= 0 && c < 0x20)) c = 'x';
  RC_ASSERT(is_utf8(bytes) == json::accept('"' + bytes + '"'));
}

TEST(Utf8, HasNoOverlongFormsSurrogatesOrHighPlanes) {
  for (const char* good : {"", "a", "é", "€", "😀", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(is_utf8(good));
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "\xC3(", "\xFF"})
    EXPECT_FALSE(is_utf8(bad));
}

TEST(EventSchema, KnowsEveryMemberThatIsWritten) {
  Arena arena;
  const json root = schema();
  const SampleRecord sample = SampleRecord::command("sequence");
  const InputRecord input = sample.view();
  for (const char* id : {"doc-1", "\xFF"})
    expect_in_schema(json::parse(event_json(dropped(id), &input, encode_context(), arena)), root, root);
}

TEST(EventSchema, KnowsWhatIsToldOfWhatWaited) {
  Arena arena;
  const json root = schema();
  Event event = dropped("doc-1");
  event.target.reset();
  event.version.reset();
  event.targets = TargetSet(3);
  for (const EventKind kind : {EventKind::kOutcome, EventKind::kLeaseLost, EventKind::kOverdue}) {
    event.kind = kind;
    const json told = json::parse(event_json(event, nullptr, encode_context(), arena));
    expect_in_schema(told, root, root);
    const auto kinds = root.at("properties").at("kind").at("enum").get<std::set<std::string>>();
    EXPECT_TRUE(kinds.contains(told.at("kind").get<std::string>()));
  }
}

TEST(EventSchema, ListsEveryOutcomeReasonAndTableRow) {
  const json properties = schema().at("properties");
  const auto listed = [&properties](const char* name) {
    return properties.at(name).at("enum").get<std::set<std::string>>();
  };
  EXPECT_EQ(listed("outcome"), all(kOutcomeNames, ""));
  EXPECT_EQ(listed("reason"), all(kReasonNames, "none"));
  EXPECT_EQ(listed("table_row"), all(kTableRowNames, "-"));
  EXPECT_EQ(listed("kind"), (std::set<std::string>{"outcome", "lease_lost", "operation", "overdue", "reset",
                                                   "target_down", "target_up"}));
}

}  // namespace
}  // namespace reseq::codec
