#include "codec/output_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "codec/header_names.h"
#include "codec/record_size.h"
#include "sample_record.h"

namespace reseq::codec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::string printable(std::optional<std::string_view> value) {
  return value ? std::string(*value) : "<removed>";
}

class Encoder : public testing::Test {
 protected:
  // Name and value of every edit, in order.
  std::vector<std::pair<std::string, std::string>> edits(const OutputRecord& record) {
    std::vector<std::pair<std::string, std::string>> list;
    for (const HeaderEdit& edit : record.edits) list.emplace_back(edit.name, printable(edit.value));
    return list;
  }

  OutputRecord forward(const SampleRecord& sample, const Forward& forward) {
    return encode({InputIndex(0), forward}, decoded(sample, Role::kRequests), context_, arena_);
  }
  OutputRecord release(const SampleRecord& sample, const Release& release) {
    return encode({InputIndex(0), release}, decoded(sample, Role::kCommands), context_, arena_);
  }
  const InputRecord& decoded(const SampleRecord& sample, Role role) {
    view_ = sample.view();
    view_.role = role;
    (void)decode(view_, DecodeContext{&two_targets()});
    return view_;
  }

  Arena arena_;
  EncodeContext context_{&two_targets(), SequenceKind::kU64, DeadLetterHeaders::kReseq, "shop.requests", UINT64_MAX};
  InputRecord view_;
};

TEST_F(Encoder, ForwardsWithEpochAndTargets) {
  const SampleRecord sample = SampleRecord::request().with("traceparent", "00-1");
  const OutputRecord record = forward(sample, {{Epoch(3), kSeven, Revision()}, Op::kUpsert, TargetSet(3)});
  EXPECT_EQ(record.role, Role::kWork);
  EXPECT_EQ(record.key, "doc-1");
  EXPECT_EQ(record.payload->data(), view_.payload->data());  // not copied
  EXPECT_TRUE(record.takes_input_headers);
  EXPECT_THAT(edits(record), ElementsAre(Pair("reseq-epoch", "3"), Pair("reseq-targets", "search,catalogue")));
}

TEST_F(Encoder, ForwardsWithoutAnEditWhenTheHeadersSayItAlready) {
  const SampleRecord sample = SampleRecord::request()
                                  .with("reseq-epoch", "03")
                                  .with("reseq-targets", "catalogue,search")
                                  .with("reseq-op", "delete");
  EXPECT_THAT(edits(forward(sample, {{Epoch(3), kSeven, Revision()}, Op::kDelete, TargetSet(3)})), IsEmpty());
}

TEST_F(Encoder, ForwardsWhatIsLeftOfTheTargetsAndTheRaisedRevision) {
  const SampleRecord sample =
      SampleRecord::request().with("reseq-epoch", "3").with("reseq-targets", "search,catalogue").payload(std::nullopt);
  EXPECT_THAT(edits(forward(sample, {{Epoch(4), kSeven, Revision(2)}, Op::kDelete, TargetSet::of(kCatalogue)})),
              ElementsAre(Pair("reseq-epoch", "4"), Pair("reseq-revision", "2"), Pair("reseq-targets", "catalogue"),
                          Pair("reseq-op", "delete")));
}

TEST_F(Encoder, ForwardsWithoutWhatConcernedTheResequencerAlone) {
  const SampleRecord sample = SampleRecord::request()
                                  .with("reseq-epoch", "0")
                                  .with("reseq-targets", "search")
                                  .with("reseq-reprocess", "true")
                                  .with("reseq-version", "1")
                                  .with("reseq-command", "register");
  EXPECT_THAT(edits(forward(sample, {{Epoch(), kSeven, Revision()}, Op::kUpsert, TargetSet(1)})),
              ElementsAre(Pair("reseq-command", "<removed>"), Pair("reseq-reprocess", "<removed>"),
                          Pair("reseq-version", "<removed>")));
}

TEST_F(Encoder, CopiesTheInventedHeader) {
  const SampleRecord sample = SampleRecord::request().with("reseq-invented", "1").with("ce_id", "2");
  const auto touched = edits(forward(sample, {{Epoch(), kSeven, Revision()}, Op::kUpsert, TargetSet(1)}));
  EXPECT_THAT(touched, ElementsAre(Pair("reseq-epoch", "0"), Pair("reseq-targets", "search")));
  const SampleRecord result = SampleRecord::command("sequence").with("reseq-invented", "1").with("ce_id", "2");
  for (const auto& [name, value] : edits(release(result, {kSearch, {}, Op::kUpsert, Version(5)})))
    EXPECT_TRUE(name == "reseq-command" || name == "reseq-version" || name == "reseq-target") << name;
}

TEST_F(Encoder, ReleasesWithVersionAndTarget) {
  const SampleRecord sample = SampleRecord::command("sequence").with("reseq-targets", "search,catalogue");
  const OutputRecord record = release(sample, {kCatalogue, {}, Op::kUpsert, Version(9'223'372'036'854'775'807U)});
  EXPECT_EQ(record.role, Role::kOutput);
  EXPECT_EQ(record.target, kCatalogue);
  EXPECT_EQ(record.key, "doc-1");
  EXPECT_EQ(record.payload, "payload");
  EXPECT_TRUE(record.takes_input_headers);
  EXPECT_THAT(edits(record),
              ElementsAre(Pair("reseq-command", "<removed>"), Pair("reseq-version", "9223372036854775807"),
                          Pair("reseq-target", "catalogue")));
}

TEST_F(Encoder, ReleasesADeleteThatSaysSo) {
  const SampleRecord sample = SampleRecord::command("sequence")
                                  .with("reseq-target", "search")
                                  .with("reseq-version", "77")
                                  .with("reseq-reprocess", "true")
                                  .payload(std::nullopt);
  const OutputRecord record = release(sample, {kSearch, {}, Op::kDelete, Version(5)});
  EXPECT_FALSE(record.payload);
  EXPECT_THAT(edits(record), ElementsAre(Pair("reseq-command", "<removed>"), Pair("reseq-reprocess", "<removed>"),
                                         Pair("reseq-version", "5"), Pair("reseq-op", "delete")));
}

NoResult unreadable() {
  NoResult what;
  what.id = "doc-1";
  what.order = {Epoch(3), kSeven, Revision()};
  what.version = Version(99);
  what.reason = Reason::kFailed;
  what.attempts = 2;
  what.at = UnixMs(1'000);
  what.error = "not a \"PDF\"";
  return what;
}

TEST_F(Encoder, TellsAnOutputThatThereIsNoResultAndWhy) {
  const SampleRecord sample = SampleRecord::request().with("mine", "stays in the dead letter");
  const NoResult what = unreadable();
  const OutputRecord record =
      encode({InputIndex(0), Marker{kCatalogue, &what}}, decoded(sample, Role::kRequests), context_, arena_);
  EXPECT_EQ(record.role, Role::kOutput);
  EXPECT_EQ(record.target, kCatalogue);
  EXPECT_EQ(record.key, "doc-1");
  EXPECT_FALSE(record.takes_input_headers);
  EXPECT_EQ(record.payload,
            R"({"reason":"failed","error":"not a \"PDF\"","attempts":2,"failed_at":"1970-01-01T00:00:01.000Z"})");
  EXPECT_THAT(edits(record), ElementsAre(Pair("reseq-seq", "7"), Pair("reseq-epoch", "3"), Pair("reseq-version", "99"),
                                         Pair("reseq-target", "catalogue"), Pair("reseq-op", "failed"),
                                         Pair("reseq-error", "not a \"PDF\"")));
}

TEST_F(Encoder, TellsAnOutputOfAnErrorThatIsNoText) {
  NoResult what = unreadable();
  what.error = "\xFF";
  what.order.revision = Revision(4);
  const OutputRecord record = encode({InputIndex(0), Marker{kCatalogue, &what}},
                                     decoded(SampleRecord::request(), Role::kRequests), context_, arena_);
  EXPECT_THAT(std::string(*record.payload), testing::HasSubstr(R"("error_base64":"/w==")"));
  EXPECT_THAT(edits(record), testing::Contains(Pair("reseq-revision", "4")));
  what.error = "";
  const OutputRecord silent = encode({InputIndex(0), Marker{kCatalogue, &what}},
                                     decoded(SampleRecord::request(), Role::kRequests), context_, arena_);
  EXPECT_THAT(std::string(*silent.payload), testing::Not(testing::HasSubstr("error")));
  EXPECT_THAT(edits(silent), testing::Not(testing::Contains(Pair("reseq-error", testing::_))));
}

// The longest id and target, and an error of which each byte takes six.
TEST_F(Encoder, NeverTellsOfNoResultInMoreBytesThanItsBoundSays) {
  const std::string id(4096, 'i');
  const std::string error(1024, '\x01');
  const TargetTable table({std::string(100, 't')});
  NoResult what = unreadable();
  what.id = id;
  what.error = error;
  what.reason = Reason::kEffectUnknown;
  what.attempts = UINT32_MAX;
  what.at = UnixMs(INT64_MAX);
  what.version = Version(INT64_MAX);
  what.order = {Epoch(UINT32_MAX), Sequence(std::string(32, 's')), Revision(UINT64_MAX)};
  context_ = {&table, SequenceKind::kText, DeadLetterHeaders::kReseq, "shop.requests", UINT64_MAX};
  context_.cloudevents = true;
  const OutputRecord record = encode({InputIndex(0), Marker{TargetNumber(0), &what}},
                                     decoded(SampleRecord::request(), Role::kRequests), context_, arena_);
  std::vector<Header> headers;
  for (const HeaderEdit& edit : record.edits) headers.push_back({edit.name, edit.value});
  const std::uint64_t bytes = record_bytes_max(record.key->size(), record.payload->size(), headers);
  EXPECT_LE(bytes, marker_bytes_max(id.size(), error.size()));
  EXPECT_GT(bytes + 1'000, marker_bytes_max(id.size(), error.size())) << "it asks for much more than it needs";
}

TEST_F(Encoder, TellsOfNoResultAsACloudEventWhenAsked) {
  const NoResult what = unreadable();
  context_.cloudevents = true;
  const OutputRecord record = encode({InputIndex(0), Marker{kCatalogue, &what}},
                                     decoded(SampleRecord::request(), Role::kRequests), context_, arena_);
  EXPECT_THAT(edits(record),
              testing::IsSupersetOf({Pair("ce_specversion", "1.0"), Pair("ce_id", "99"),
                                     Pair("ce_source", "resequencer"), Pair("ce_type", "resequencer.failed"),
                                     Pair("ce_subject", "doc-1"), Pair("ce_sequence", "00000000000000000099")}));
}

TEST_F(Encoder, WritesCloudEventsWhenAsked) {
  context_.cloudevents = true;
  const SampleRecord sample = SampleRecord::command("sequence").with("reseq-target", "search").with("ce_id", "2");
  EXPECT_THAT(edits(release(sample, {kSearch, {}, Op::kUpsert, Version(117'661'552'783'523'841U)})),
              ElementsAre(Pair("reseq-command", "<removed>"), Pair("reseq-version", "117661552783523841"),
                          Pair("ce_sequence", "00117661552783523841"), Pair("ce_subject", "doc-1")));
}

TEST_F(Encoder, SaysTheSequenceOfACloudEventToThePipeline) {
  const SampleRecord sample = SampleRecord(Role::kRequests).with("ce_sequence", "00000000000000000007");
  const auto touched = edits(forward(sample, {{Epoch(), kSeven, Revision()}, Op::kUpsert, TargetSet(1)}));
  EXPECT_THAT(touched, testing::Contains(Pair("reseq-seq", "7")));
}

TEST_F(Encoder, NeverAddsMoreThanItsBoundSays) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kMaxTargets; ++i) names.push_back(std::string(98, 't') + std::to_string(10 + i));
  const TargetTable table(names);
  context_.targets = &table;
  const SampleRecord sample = SampleRecord::request();
  const auto added = [](const OutputRecord& record) {
    std::uint64_t bytes = 0;
    for (const HeaderEdit& edit : record.edits)
      if (edit.value) bytes += header_bytes_max(edit.name.size(), edit.value->size());
    return bytes;
  };
  const Order largest{Epoch(UINT32_MAX), kSeven, Revision(UINT64_MAX)};
  const std::uint64_t forwarded = added(forward(sample, {largest, Op::kDelete, table.all()}));
  EXPECT_LE(forwarded, added_bytes_max(table, 0));
  EXPECT_GE(forwarded + 64, added_bytes_max(table, 0));  // the bound is near
  const TargetTable one({std::string(kMaxTargetNameBytes, 't')});
  context_.targets = &one;
  EXPECT_LE(added(release(sample, {TargetNumber(0), largest, Op::kDelete, Version(kVersionLimit - 1)})),
            added_bytes_max(one, 0));
}

// Length of a record batch of one record in Kafka's message format v2.
std::uint64_t batch_bytes(const InputRecord& record) {
  const auto varint = [](std::uint64_t value) {
    std::uint64_t bytes = 1;
    for (value <<= 1; value >= 0x80; value >>= 7) ++bytes;
    return bytes;
  };
  std::uint64_t body = 1 + 1 + 1 + varint(record.key->size()) + record.key->size() + varint(record.payload->size()) +
                       record.payload->size() + varint(record.headers.size());
  for (const Header& header : record.headers)
    body += varint(header.name.size()) + header.name.size() + varint(header.value->size()) + header.value->size();
  return 61 + varint(body) + body;
}

TEST_F(Encoder, BoundsTheSizeOfARecordFromAboveAndNear) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{10'000}, std::size_t{3'000'000}}) {
    const SampleRecord sample =
        SampleRecord::request().payload(std::string(size, 'x')).with("traceparent", std::string(size / 100, 'y'));
    const InputRecord record = sample.view();
    const std::uint64_t bound = record_bytes_max(record.key->size(), record.payload->size(), record.headers);
    EXPECT_GE(bound, batch_bytes(record));
    EXPECT_LE(bound, batch_bytes(record) + 64);
  }
}

}  // namespace
}  // namespace reseq::codec
