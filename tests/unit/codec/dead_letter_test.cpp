#include "codec/dead_letter.h"

#include <gtest/gtest.h>
#include <map>

#include "codec/sequence_text.h"
#include "sample_record.h"

namespace reseq::codec {
namespace {

using Edits = std::map<std::string, std::string, std::less<>>;

class DeadLetterRecord : public testing::Test {
 protected:
  OutputRecord letter(const SampleRecord& sample, const std::optional<Order>& expected = {}) {
    view_ = sample.view();
    return encode({InputIndex(0), DeadLetter{Reason::kSequenceReused, expected}}, view_, context_, arena_);
  }
  static Edits edits(const OutputRecord& record) {
    Edits found;
    for (const HeaderEdit& edit : record.edits) found.emplace(edit.name, edit.value.value_or("<removed>"));
    return found;
  }
  // What the letter takes at most in its topic.
  std::uint64_t bytes(const OutputRecord& record) const {
    std::vector<Header> headers;
    if (record.takes_input_headers) headers.assign(view_.headers.begin(), view_.headers.end());
    for (const HeaderEdit& edit : record.edits) headers.push_back({edit.name, edit.value});
    return record_bytes_max(record.key ? record.key->size() : 0, record.payload ? record.payload->size() : 0, headers);
  }

  Arena arena_;
  EncodeContext context_{&two_targets(), SequenceKind::kLsn, DeadLetterHeaders::kReseq, "shop.requests", UINT64_MAX};
  InputRecord view_;
};

TEST_F(DeadLetterRecord, IsTheInputWithWhyAndWhereFrom) {
  const SampleRecord sample = SampleRecord::request().with("reseq-command", "register").with("mine", "1");
  const Order expected{Epoch(1), *parse_sequence(SequenceKind::kLsn, "16/B374D848"), Revision(2)};
  const OutputRecord record = letter(sample, expected);
  EXPECT_EQ(record.role, Role::kDeadLetter);
  EXPECT_EQ(record.key, "doc-1");
  EXPECT_EQ(record.payload->data(), view_.payload->data());
  EXPECT_TRUE(record.takes_input_headers);
  EXPECT_EQ(edits(record), (Edits{{"reseq-reason", "sequence_reused"},
                                  {"reseq-source-topic", "shop.requests"},
                                  {"reseq-source-partition", "0"},
                                  {"reseq-source-offset", "42"},
                                  {"reseq-expected-seq", "16/B374D848"},
                                  {"reseq-first-written", "1709164800000"}}));
}

TEST_F(DeadLetterRecord, SaysForWhichTargetsARequestWasGivenUpAndWhatWasSaidLast) {
  const SampleRecord sample =
      SampleRecord::request().with("reseq-targets", "search,catalogue").with("reseq-attempts", "77");
  view_ = sample.view();
  const GivenUp failure{0, TargetSet(1), 3, "not a PDF"};
  const OutputRecord record =
      encode({InputIndex(0), DeadLetter{Reason::kFailed, std::nullopt, &failure}}, view_, context_, arena_);
  EXPECT_EQ(record.payload->data(), view_.payload->data());
  const Edits said = edits(record);
  EXPECT_EQ(said.at("reseq-reason"), "failed");
  EXPECT_EQ(said.at("reseq-targets"), "search");
  EXPECT_EQ(said.at("reseq-attempts"), "3");
  EXPECT_EQ(said.at("reseq-error"), "not a PDF");
  EXPECT_EQ(edits(letter(sample)).at("reseq-attempts"), "<removed>") << "an input says how often it was tried";
}

// They stand in the state, too.
TEST_F(DeadLetterRecord, LeavesOutItsErrorWhereNothingElseIsLeft) {
  const SampleRecord sample = SampleRecord::request();
  view_ = sample.view();
  const std::string error(kMaxErrorBytes, 'x');
  const GivenUp failure{0, TargetSet(1), 3, error};
  context_.dead_letter_bytes_max = 1'000;
  const OutputRecord record =
      encode({InputIndex(0), DeadLetter{Reason::kFailed, std::nullopt, &failure}}, view_, context_, arena_);
  EXPECT_LE(bytes(record), context_.dead_letter_bytes_max);
  EXPECT_FALSE(edits(record).contains("reseq-error"));
  EXPECT_EQ(edits(record).at("reseq-reason"), "failed");
}

// One that is sent again may become a letter once more, and is as old as it was. Nobody becomes younger by saying so.
TEST_F(DeadLetterRecord, IsAsOldAsTheInputOfTheFirstLetter) {
  const auto first = [&](const char* said) {
    return edits(letter(SampleRecord::request().with("reseq-first-written", said))).at("reseq-first-written");
  };
  EXPECT_EQ(first("1709164000000"), "1709164000000");
  for (const char* wrong : {"1709164800001", "", "0", "-5", "x", "99999999999999999999", "9223372036854775808"})
    EXPECT_EQ(first(wrong), "1709164800000") << wrong;
}

TEST_F(DeadLetterRecord, ExpectsNothingWhenNothingIsKnown) {
  EXPECT_FALSE(edits(letter(SampleRecord::request())).contains("reseq-expected-seq"));
  EXPECT_FALSE(edits(letter(SampleRecord::request(), Order())).contains("reseq-expected-seq"));
}

TEST_F(DeadLetterRecord, SaysNothingThatOnlyTheInputSays) {
  const SampleRecord sample = SampleRecord::request()
                                  .with("reseq-expected-seq", "99")
                                  .with("reseq-payload-omitted", "5")
                                  .with("reseq-headers-omitted", "5")
                                  .with("reseq-key-omitted", "5");
  for (const char* name : {"reseq-expected-seq", "reseq-payload-omitted", "reseq-headers-omitted", "reseq-key-omitted"})
    EXPECT_EQ(edits(letter(sample)).at(name), "<removed>");
  const Order expected{Epoch(), *parse_sequence(SequenceKind::kLsn, "0/7"), Revision()};
  EXPECT_EQ(edits(letter(sample, expected)).at("reseq-expected-seq"), "0/7");
}

TEST_F(DeadLetterRecord, TellsHowManyHeadersWereLeftOutBecauseTheyAreTooMany) {
  const SampleRecord sample = SampleRecord::request();
  view_ = sample.view();
  view_.headers = {};
  view_.headers_left_out = 5'000;
  const OutputRecord record = dead_letter({Reason::kTooManyHeaders}, view_, context_, arena_);
  EXPECT_FALSE(record.takes_input_headers);
  EXPECT_EQ(edits(record).at("reseq-headers-omitted"), "5000");
  EXPECT_EQ(record.payload, "payload");
}

// Sent again, a null payload would delete the document.
TEST_F(DeadLetterRecord, OfARecordThatIsGoneSaysThatItsPayloadIsLeftOut) {
  view_ = {};
  view_.key = "a";
  view_.offset = Offset(7);
  const GivenUp gone{1'234, {}, 0, {}};
  const OutputRecord record = dead_letter({Reason::kBodyGone, std::nullopt, &gone}, view_, context_, arena_);
  EXPECT_EQ(record.key, "a");
  EXPECT_FALSE(record.payload);
  EXPECT_EQ(edits(record).at("reseq-reason"), "body_gone");
  EXPECT_EQ(edits(record).at("reseq-source-offset"), "7");
  EXPECT_EQ(edits(record).at("reseq-payload-omitted"), "1234");
}

TEST_F(DeadLetterRecord, OfARedirectLooksTheSame) {
  const SampleRecord sample = SampleRecord::command("sequence").key(std::nullopt).payload(std::nullopt);
  view_ = sample.view();
  const OutputRecord record = encode({InputIndex(0), Redirect{Reason::kMissingId}}, view_, context_, arena_);
  EXPECT_EQ(record.role, Role::kDeadLetter);
  EXPECT_FALSE(record.key);
  EXPECT_FALSE(record.payload);
  EXPECT_EQ(edits(record).at("reseq-reason"), "missing_id");
}

TEST_F(DeadLetterRecord, CanBeReadByTheToolsOfKafkaStreams) {
  context_.dead_letter_headers = DeadLetterHeaders::kStreams;
  const Edits found = edits(letter(SampleRecord::request()));
  EXPECT_EQ(found.at("__streams.errors.message"), "sequence_reused");
  EXPECT_EQ(found.at("__streams.errors.topic"), "shop.requests");
  EXPECT_EQ(found.at("__streams.errors.partition"), "0");
  EXPECT_EQ(found.at("__streams.errors.offset"), "42");
  EXPECT_TRUE(found.contains("__streams.errors.exception"));
  EXPECT_TRUE(found.contains("__streams.errors.stacktrace"));
  EXPECT_EQ(found.at("reseq-reason"), "sequence_reused");
}

TEST_F(DeadLetterRecord, CanBeReadBySpring) {
  using namespace std::string_literals;
  context_.dead_letter_headers = DeadLetterHeaders::kSpring;
  const Edits found = edits(letter(SampleRecord::request()));
  EXPECT_EQ(found.at("kafka_dlt-original-topic"), "shop.requests");
  EXPECT_EQ(found.at("kafka_dlt-original-partition"), "\0\0\0\0"s);
  EXPECT_EQ(found.at("kafka_dlt-original-offset"), "\0\0\0\0\0\0\0\x2A"s);
  EXPECT_EQ(found.at("kafka_dlt-original-timestamp"), "\0\0\x01\x8D\xF2\x29\x28\0"s);
  EXPECT_EQ(found.at("kafka_dlt-exception-message"), "sequence_reused");
  EXPECT_TRUE(found.contains("kafka_dlt-exception-fqcn"));
  EXPECT_TRUE(found.contains("kafka_dlt-exception-stacktrace"));
}

TEST_F(DeadLetterRecord, LeavesOutWhatDoesNotFit) {
  const SampleRecord sample = SampleRecord::request()
                                  .key(std::string(3'000, 'k'))
                                  .payload(std::string(100'000, 'p'))
                                  .with("large", std::string(10'000, 'h'));
  context_.dead_letter_bytes_max = 120'000;
  EXPECT_FALSE(edits(letter(sample)).contains("reseq-payload-omitted"));

  context_.dead_letter_bytes_max = 100'000;
  OutputRecord record = letter(sample);
  EXPECT_FALSE(record.payload);
  EXPECT_TRUE(record.takes_input_headers);
  EXPECT_EQ(edits(record).at("reseq-payload-omitted"), "100000");
  EXPECT_LE(bytes(record), context_.dead_letter_bytes_max);

  context_.dead_letter_bytes_max = 10'000;
  record = letter(sample);
  EXPECT_FALSE(record.takes_input_headers);
  EXPECT_EQ(edits(record).at("reseq-headers-omitted"), "2");
  EXPECT_TRUE(record.key);
  EXPECT_LE(bytes(record), context_.dead_letter_bytes_max);

  context_.dead_letter_bytes_max = 1'000;
  record = letter(sample);
  EXPECT_FALSE(record.key);
  EXPECT_EQ(edits(record).at("reseq-key-omitted"), "3000");
  EXPECT_EQ(edits(record).at("reseq-source-offset"), "42");
  EXPECT_LE(bytes(record), context_.dead_letter_bytes_max);
}

}  // namespace
}  // namespace reseq::codec
