// Requests, RESET, ids and what is common to all inputs.
#include "codec/command_decoder.h"

#include <gtest/gtest.h>

#include "base/reserved_names.h"
#include "codec/header_names.h"
#include "sample_record.h"

namespace reseq::codec {
namespace {

Request request_of(const SampleRecord& sample, const DecodeContext& with = decode_context()) {
  const Command command = decoded(sample.view(), with);
  EXPECT_TRUE(std::holds_alternative<Request>(command));
  const auto* request = std::get_if<Request>(&command);
  return request != nullptr ? *request : Request();
}

Reason reason_of(const SampleRecord& sample, const DecodeContext& with = decode_context()) {
  const Command command = decoded(sample.view(), with);
  const auto* refused = std::get_if<Refused>(&command);
  return refused != nullptr ? refused->reason : Reason::kNone;
}

SampleRecord request() {
  return SampleRecord::request();
}

TEST(DecodeRequest, ReadsEverythingItSays) {
  const SampleRecord sample = request()
                                  .with("reseq-command", "register")
                                  .with("reseq-id", "doc-1")
                                  .with("reseq-epoch", "3")
                                  .with("reseq-op", "upsert")
                                  .with("reseq-targets", "catalogue,search,catalogue")
                                  .with("reseq-reprocess", "true");
  InputRecord view = sample.view();
  const auto command = std::get<Request>(decode(view, decode_context()));
  EXPECT_EQ(command.what.id, "doc-1");
  EXPECT_EQ(command.what.epoch, Epoch(3));
  EXPECT_EQ(command.what.sequence.bytes(), std::string_view("\0\0\0\0\0\0\0\7", 8));
  EXPECT_EQ(command.what.revision, Revision(0));
  EXPECT_EQ(command.what.op, Op::kUpsert);
  EXPECT_EQ(command.what.targets, TargetSet(3));
  EXPECT_EQ(command.what.headers.data(), view.headers.data());
  EXPECT_TRUE(command.reprocess);
  EXPECT_EQ(command.hash, payload_hash(Op::kUpsert, "payload"));
  EXPECT_EQ(command.work_bytes, record_bytes_max(5, 7, view.headers) + added_bytes_max(two_targets(), 0));
}

TEST(DecodeRequest, NeedsOnlyASequence) {
  const Request command = request_of(request());
  EXPECT_FALSE(command.what.epoch);
  EXPECT_FALSE(command.what.targets);
  EXPECT_FALSE(command.reprocess);
  EXPECT_EQ(command.what.op, Op::kUpsert);
}

TEST(DecodeRequest, TakesANullPayloadForADeleteButNotAnEmptyOne) {
  EXPECT_EQ(request_of(request().payload(std::nullopt)).what.op, Op::kDelete);
  EXPECT_EQ(request_of(request().payload("")).what.op, Op::kUpsert);
  EXPECT_EQ(request_of(request().with("reseq-op", "delete")).what.op, Op::kDelete);
  EXPECT_EQ(reason_of(request().payload(std::nullopt).with("reseq-op", "upsert")), Reason::kOpPayloadConflict);
  EXPECT_EQ(reason_of(request().payload("").with("reseq-op", "upsert")), Reason::kNone);
}

TEST(DecodeRequest, IsADeleteOnlyWhenItSaysSoWhereDeletesAreExplicit) {
  DecodeContext with = decode_context();
  with.explicit_deletes = true;
  EXPECT_EQ(reason_of(request().payload(std::nullopt), with), Reason::kOpPayloadConflict);
  EXPECT_EQ(reason_of(request().payload(std::nullopt).with("reseq-op", "upsert"), with), Reason::kOpPayloadConflict);
  EXPECT_EQ(request_of(request().payload(std::nullopt).with("reseq-op", "delete"), with).what.op, Op::kDelete);
  EXPECT_EQ(request_of(request().payload(""), with).what.op, Op::kUpsert);
  with.tap = true;
  EXPECT_EQ(request_of(request().payload(std::nullopt), with).what.op, Op::kUpsert) << "a copy may lack its payload";
}

TEST(DecodeRequest, MayLackItsPayloadWhenItIsATapCopy) {
  DecodeContext tap = decode_context();
  tap.tap = true;
  EXPECT_EQ(request_of(request().payload(std::nullopt), tap).what.op, Op::kUpsert);
  EXPECT_EQ(request_of(request().payload(std::nullopt).with("reseq-op", "upsert"), tap).what.op, Op::kUpsert);
  EXPECT_EQ(request_of(request().payload(std::nullopt).with("reseq-op", "delete"), tap).what.op, Op::kDelete);
}

// Whatever else is wrong: nobody looks at them.
TEST(DecodeRequest, IsRefusedWithTooManyHeaders) {
  SampleRecord sample = request().with("reseq-command", "?").key("doc-2");
  DecodeContext context = decode_context();
  context.headers_max = 100;
  while (sample.view().headers.size() < 100) sample.with("mine", std::nullopt);
  EXPECT_EQ(reason_of(sample, context), Reason::kUnknownCommand);
  sample.with("mine", std::nullopt);
  InputRecord view = sample.view();
  const Command command = decode(view, context);
  EXPECT_EQ(std::get<Refused>(command).reason, Reason::kTooManyHeaders);
  EXPECT_EQ(std::get<Refused>(command).id, "doc-2");
  EXPECT_EQ(view.headers_left_out, 101U);
  EXPECT_TRUE(view.headers.empty());
}

// It has those of its request, and what the contract adds.
TEST(DecodeSequence, MayHaveMoreHeadersThanARequest) {
  SampleRecord sample = SampleRecord::command("sequence").with("reseq-target", "search");
  DecodeContext context = decode_context();
  context.headers_max = 100;
  while (sample.view().headers.size() < 132) sample.with("mine", std::nullopt);
  EXPECT_EQ(reason_of(sample, context), Reason::kNone);
  sample.with("mine", std::nullopt);
  EXPECT_EQ(reason_of(sample, context), Reason::kTooManyHeaders);
}

TEST(DecodeRequest, IsNoOtherCommand) {
  EXPECT_EQ(reason_of(request().with("reseq-command", "sequence")), Reason::kUnknownCommand);
  EXPECT_EQ(reason_of(request().with("reseq-command", std::nullopt)), Reason::kMalformedHeader);
  EXPECT_EQ(reason_of(request().with("reseq-command", "Register")), Reason::kUnknownCommand);
}

TEST(DecodeRequest, RaisesNoRevision) {
  EXPECT_EQ(reason_of(request().with("reseq-revision", "1")), Reason::kUnsupportedHeader);
}

TEST(DecodeId, IsTheKey) {
  EXPECT_EQ(reason_of(request().key(std::nullopt)), Reason::kMissingId);
  EXPECT_EQ(reason_of(request().key(std::nullopt).with("reseq-id", "doc-1")), Reason::kIdKeyMismatch);
  EXPECT_EQ(reason_of(request().key("")), Reason::kEmptyId);
  EXPECT_EQ(reason_of(request().key(std::string(kMaxIdBytes, 'x'))), Reason::kNone);
  EXPECT_EQ(reason_of(request().key(std::string(kMaxIdBytes + 1, 'x'))), Reason::kIdTooLong);
  EXPECT_EQ(reason_of(request().with("reseq-id", "doc-2")), Reason::kIdKeyMismatch);
  EXPECT_EQ(reason_of(request().with("reseq-id", std::nullopt)), Reason::kMalformedHeader);
  EXPECT_EQ(reason_of(request().key(std::string("\0\xFF\n", 3))), Reason::kNone);
}

TEST(DecodeId, IsToldOfARefusedRecordAsFarAsItIsKnown) {
  const auto id_of = [](const SampleRecord& sample) {
    return std::string(std::get<Refused>(decoded(sample.view(), decode_context())).id);
  };
  EXPECT_EQ(id_of(request().without("reseq-seq")), "doc-1");
  EXPECT_EQ(id_of(request().key(std::nullopt).with("reseq-id", "doc-2")), "doc-2");
  EXPECT_EQ(id_of(request().key(std::string(kMaxIdBytes + 1, 'x'))), "");
  EXPECT_EQ(id_of(SampleRecord(Role::kControl)), "doc-1");
}

TEST(DecodeId, MustBelongToThePartition) {
  DecodeContext many = decode_context();
  many.partitions = 64;
  const Partition right = partition_of("doc-1", Partitioner::kMurmur2, 64);
  const SampleRecord sample = request();
  InputRecord view = sample.view();
  view.partition = right;
  EXPECT_TRUE(std::holds_alternative<Request>(decode(view, many)));
  view.partition = Partition((right.value() + 1) % 64);
  EXPECT_EQ(std::get<Refused>(decode(view, many)).reason, Reason::kMisrouted);
  many.partitioner = Partitioner::kUnchecked;
  EXPECT_TRUE(std::holds_alternative<Request>(decode(view, many)));
  many.partitioner = Partitioner::kCrc32;
  view.partition = partition_of("doc-1", Partitioner::kCrc32, 64);
  EXPECT_TRUE(std::holds_alternative<Request>(decode(view, many)));
}

TEST(DecodeHeaders, MissingOrMalformedOnesHaveTheirReason) {
  EXPECT_EQ(reason_of(request().without("reseq-seq")), Reason::kMissingSequence);
  EXPECT_EQ(reason_of(request().with("reseq-seq", "x")), Reason::kMalformedSequence);
  EXPECT_EQ(reason_of(request().with("reseq-seq", std::nullopt)), Reason::kMalformedHeader);
  for (const char* value : {"", "-1", "4294967296", "1 ", "one"})
    EXPECT_EQ(reason_of(request().with("reseq-epoch", value)), Reason::kMalformedHeader) << value;
  for (const char* value : {"", "UPSERT", "update"})
    EXPECT_EQ(reason_of(request().with("reseq-op", value)), Reason::kMalformedHeader) << value;
  for (const char* value : {"", "True", "1", "yes"})
    EXPECT_EQ(reason_of(request().with("reseq-reprocess", value)), Reason::kMalformedHeader) << value;
  EXPECT_EQ(reason_of(request().with("reseq-reprocess", "false")), Reason::kNone);
  for (const char* name : {"reseq-epoch", "reseq-op", "reseq-reprocess", "reseq-targets"})
    EXPECT_EQ(reason_of(request().with(name, std::nullopt)), Reason::kMalformedHeader) << name;
}

TEST(DecodeHeaders, ListsOfTargetsHaveNoBlanksAndNoUnknownNames) {
  for (const std::string& list :
       {std::string(), std::string("search,"), std::string(",search"), std::string("search,,x"),
        std::string("search, catalogue"), std::string("se*rch"), std::string(101, 'x')})
    EXPECT_EQ(reason_of(request().with("reseq-targets", list)), Reason::kMalformedHeader) << list;
  EXPECT_EQ(reason_of(request().with("reseq-targets", "search,lake")), Reason::kUnknownTarget);
  EXPECT_EQ(reason_of(request().with("reseq-targets", "lake,b l")), Reason::kMalformedHeader);
}

TEST(DecodeHeaders, OfADoubledOneTheLastCounts) {
  EXPECT_EQ(request_of(request().with("reseq-epoch", "1").with("reseq-epoch", "2")).what.epoch, Epoch(2));
  EXPECT_EQ(reason_of(request().with("reseq-epoch", "1").with("reseq-epoch", "x")), Reason::kMalformedHeader);
  EXPECT_EQ(reason_of(request().with("reseq-epoch", "x").with("reseq-epoch", "1")), Reason::kNone);
}

TEST(DecodeHeaders, ReservedOnesAreRefusedOnEveryInput) {
  for (const std::string_view name : reserved::kHeaders) {
    EXPECT_EQ(reason_of(request().with(std::string(name), "1")), Reason::kUnsupportedHeader) << name;
    for (const char* command : {"register", "unregister", "sequence", "nonsense"})
      EXPECT_EQ(reason_of(SampleRecord::command(command).with(std::string(name), std::nullopt)),
                Reason::kUnsupportedHeader)
          << name;
  }
}

TEST(DecodeHeaders, OthersAreNotRead) {
  for (const char* name : {"reseq-version", "reseq-reason", "reseq-source-topic", "reseq-source-offset",
                           "reseq-expected-seq", "reseq-invented", "reseq-", "reseq", "Reseq-Seq", "traceparent", ""})
    EXPECT_EQ(reason_of(request().with(name, "x").with(name, std::nullopt)), Reason::kNone) << name;
}

SampleRecord reset() {
  return SampleRecord(Role::kRequests)
      .with("reseq-control", "reset")
      .with("reseq-control-id", "reset-2024")
      .with("reseq-control-partition", "0")
      .with("reseq-epoch", "9")
      .key(std::nullopt)
      .payload(std::nullopt);
}

TEST(DecodeReset, ReadsTheAbsoluteEpoch) {
  const Command command = decoded(reset().view(), decode_context());
  ASSERT_TRUE(std::holds_alternative<Reset>(command));
  EXPECT_EQ(std::get<Reset>(command).default_epoch, Epoch(9));
}

TEST(DecodeReset, IsRefusedWhenAnythingIsMissing) {
  for (const char* name : {"reseq-epoch", "reseq-control-id", "reseq-control-partition"})
    EXPECT_EQ(reason_of(reset().without(name)), Reason::kMalformedHeader) << name;
  EXPECT_EQ(reason_of(reset().with("reseq-control-id", "")), Reason::kMalformedHeader);
  EXPECT_EQ(reason_of(reset().with("reseq-control-partition", "-1")), Reason::kMalformedHeader);
  EXPECT_EQ(reason_of(reset().with("reseq-control-partition", "1")), Reason::kMisrouted);
  EXPECT_EQ(reason_of(reset().without("reseq-control")), Reason::kUnknownControl);
  EXPECT_EQ(reason_of(reset().with("reseq-control", "floor")), Reason::kUnknownControl);
  EXPECT_EQ(reason_of(reset().with("reseq-control", std::nullopt)), Reason::kMalformedHeader);
  EXPECT_EQ(reason_of(reset().with("reseq-control-later", "x")), Reason::kUnsupportedHeader);
}

TEST(DecodeReset, IsExemptFromTheKeyCheck) {
  DecodeContext many = decode_context();
  many.partitions = 64;
  EXPECT_EQ(reason_of(reset().key("whatever"), many), Reason::kNone);
}

TEST(DecodeCloudEvent, TakesSequenceAndSubjectOnlyWithTheProfile) {
  const SampleRecord event = SampleRecord(Role::kRequests).with("ce_sequence", "00000000000000000017");
  EXPECT_EQ(reason_of(event), Reason::kMissingSequence);
  DecodeContext profile = decode_context();
  profile.cloudevents = true;
  EXPECT_EQ(request_of(event, profile).what.sequence, Sequence::of_number(17));
  EXPECT_EQ(request_of(SampleRecord::request().with("ce_sequence", "99"), profile).what.sequence,
            Sequence::of_number(7))
      << "reseq-seq comes first";
  EXPECT_EQ(reason_of(SampleRecord::request().with("ce_subject", "doc-1"), profile), Reason::kNone);
  EXPECT_EQ(reason_of(SampleRecord::request().with("ce_subject", "other"), profile), Reason::kIdKeyMismatch);
  EXPECT_EQ(reason_of(SampleRecord(Role::kRequests).with("ce_sequence", "x"), profile), Reason::kMalformedSequence);
  EXPECT_EQ(reason_of(SampleRecord(Role::kRequests).with("ce_sequence", std::nullopt), profile),
            Reason::kMalformedHeader);
  EXPECT_EQ(reason_of(SampleRecord(Role::kRequests), profile), Reason::kMissingSequence);
}

SampleRecord operation(const std::string& name) {
  return SampleRecord(Role::kControl)
      .with("reseq-control", name)
      .with("reseq-control-id", "ticket 17")
      .with("reseq-control-partition", "0");
}

TEST(DecodeOperation, ReadsWhatIsToExpire) {
  const SampleRecord plain = operation("expire");
  const Command all = decoded(plain.view(), decode_context());
  ASSERT_TRUE(std::holds_alternative<Expire>(all));
  EXPECT_EQ(std::get<Expire>(all).id, "doc-1");
  EXPECT_TRUE(std::get<Expire>(all).targets.empty());
  EXPECT_FALSE(std::get<Expire>(all).dry_run || std::get<Expire>(all).expected);
  const SampleRecord record = operation("expire")
                                  .with("reseq-target", "catalogue")
                                  .with("reseq-control-dry-run", "true")
                                  .with("reseq-control-expected-seq", "18")
                                  .with("reseq-control-expected-epoch", "2");
  const Command one = decoded(record.view(), decode_context());
  ASSERT_TRUE(std::holds_alternative<Expire>(one));
  EXPECT_EQ(std::get<Expire>(one).targets, TargetSet::of(TargetNumber(1)));
  EXPECT_TRUE(std::get<Expire>(one).dry_run);
  EXPECT_EQ(std::get<Expire>(one).expected->epoch, Epoch(2));
  EXPECT_EQ(std::get<Expire>(one).expected->sequence, Sequence::of_number(18));
}

TEST(DecodeOperation, ReadsWhatIsToBeDispatchedNow) {
  const SampleRecord plain = operation("dispatch-now");
  const Command all = decoded(plain.view(), decode_context());
  ASSERT_TRUE(std::holds_alternative<DispatchByHand>(all));
  EXPECT_EQ(std::get<DispatchByHand>(all).id, "doc-1");
  EXPECT_TRUE(std::get<DispatchByHand>(all).targets.empty());
  EXPECT_FALSE(std::get<DispatchByHand>(all).dry_run || std::get<DispatchByHand>(all).expected);
  EXPECT_FALSE(std::get<DispatchByHand>(all).until);
  const SampleRecord record = operation("dispatch-now")
                                  .with("reseq-target", "catalogue")
                                  .with("reseq-control-dry-run", "true")
                                  .with("reseq-control-expected-seq", "18");
  const Command one = decoded(record.view(), decode_context());
  ASSERT_TRUE(std::holds_alternative<DispatchByHand>(one));
  EXPECT_EQ(std::get<DispatchByHand>(one).targets, TargetSet::of(TargetNumber(1)));
  EXPECT_TRUE(std::get<DispatchByHand>(one).dry_run);
  EXPECT_EQ(std::get<DispatchByHand>(one).expected->sequence, Sequence::of_number(18));
  EXPECT_EQ(reason_of(operation("dispatch-now").with("reseq-process-at", "5")), Reason::kUnsupportedHeader);
  EXPECT_EQ(reason_of(operation("dispatch-now").with("reseq-target", "nobody")), Reason::kUnknownTarget);
}

TEST(DecodeOperation, ReadsUntilWhenIsPostponed) {
  for (const char* date : {"1709164800000", "2024-02-29T00:00:00Z"}) {
    const SampleRecord record = operation("dispatch-postpone").with("reseq-process-at", date);
    const Command command = decoded(record.view(), decode_context());
    ASSERT_TRUE(std::holds_alternative<DispatchByHand>(command)) << date;
    EXPECT_EQ(std::get<DispatchByHand>(command).until, UnixMs(1'709'164'800'000)) << date;
  }
  EXPECT_EQ(reason_of(operation("dispatch-postpone")), Reason::kMalformedHeader) << "until when?";
  for (const char* date : {"", "soon", "-1"})
    EXPECT_EQ(reason_of(operation("dispatch-postpone").with("reseq-process-at", date)), Reason::kMalformedHeader)
        << date;
  for (const char* header : {"reseq-priority", "reseq-expires-at", "reseq-attempt", "reseq-lease-until"})
    EXPECT_EQ(reason_of(operation("dispatch-postpone").with("reseq-process-at", "5").with(header, "5")),
              Reason::kUnsupportedHeader)
        << header;
}

TEST(DecodeOperation, ReadsAResultToRelease) {
  const Command command =
      decoded(operation("release").with("reseq-seq", "7").with("reseq-target", "search").view(), decode_context());
  ASSERT_TRUE(std::holds_alternative<ReleaseByHand>(command));
  EXPECT_EQ(std::get<ReleaseByHand>(command).result.sequence, Sequence::of_number(7));
  EXPECT_EQ(std::get<ReleaseByHand>(command).result.target, TargetNumber(0));
  EXPECT_EQ(reason_of(operation("release").with("reseq-target", "search")), Reason::kMissingSequence);
  EXPECT_EQ(reason_of(operation("release").with("reseq-seq", "7")), Reason::kMissingTarget);
}

TEST(DecodeOperation, ReadsWhichOrderIsToBeSkipped) {
  const SampleRecord record = operation("skip").with("reseq-seq", "7").with("reseq-target", "search");
  const SampleRecord whole =
      SampleRecord(record).with("reseq-epoch", "2").with("reseq-revision", "1").with("reseq-control-dry-run", "true");
  const Command command = decoded(whole.view(), decode_context());
  ASSERT_TRUE(std::holds_alternative<SkipPlace>(command));
  const SkipPlace& skip = std::get<SkipPlace>(command);
  EXPECT_EQ(skip.id, "doc-1");
  EXPECT_EQ(skip.sequence, Sequence::of_number(7));
  EXPECT_EQ(skip.epoch, Epoch(2));
  EXPECT_EQ(skip.revision, Revision(1));
  EXPECT_EQ(skip.target, TargetNumber(0));
  EXPECT_TRUE(skip.dry_run);
  EXPECT_FALSE(std::get<SkipPlace>(decoded(record.view(), decode_context())).epoch);
  EXPECT_EQ(reason_of(SampleRecord(record).without("reseq-seq")), Reason::kMissingSequence)
      << "skipping what comes first would skip another one the second time";
  EXPECT_EQ(reason_of(SampleRecord(record).without("reseq-target")), Reason::kMissingTarget);
  EXPECT_EQ(reason_of(SampleRecord(record).with("reseq-control-expected-seq", "7")), Reason::kUnsupportedHeader);
}

TEST(DecodeOperation, ReadsAFloor) {
  const Command command =
      decoded(operation("raise-version-floor").with("reseq-version", "99").view(), decode_context());
  ASSERT_TRUE(std::holds_alternative<RaiseFloor>(command));
  EXPECT_EQ(std::get<RaiseFloor>(command).floor, Version(99));
  EXPECT_FALSE(std::get<RaiseFloor>(command).target || std::get<RaiseFloor>(command).expected);
  for (const char* version : {"0", "9223372036854775808", "-1", ""})
    EXPECT_EQ(reason_of(operation("raise-version-floor").with("reseq-version", version)), Reason::kMalformedHeader)
        << version;
  EXPECT_EQ(reason_of(operation("raise-version-floor")), Reason::kMalformedHeader);
}

TEST(DecodeOperation, ReadsPauseAndResumeOfAnyKey) {
  DecodeContext many = decode_context();
  many.partitions = 64;
  const Command pause = decoded(operation("pause").key("whatever").view(), many);
  ASSERT_TRUE(std::holds_alternative<Pause>(pause));
  EXPECT_TRUE(std::get<Pause>(pause).paused);
  EXPECT_FALSE(std::get<Pause>(decoded(operation("resume").key(std::nullopt).view(), many)).paused);
}

TEST(DecodeOperation, IsRefusedWhenItIsIncompleteOrForAnotherPartition) {
  for (const char* name :
       {"expire", "dispatch-now", "dispatch-postpone", "release", "skip", "raise-version-floor", "pause", "resume"}) {
    EXPECT_EQ(reason_of(operation(name).without("reseq-control-id")), Reason::kMalformedHeader) << name;
    EXPECT_EQ(reason_of(operation(name).with("reseq-control-id", std::string(kMaxControlIdBytes + 1, 'x'))),
              Reason::kMalformedHeader)
        << name;
    EXPECT_EQ(reason_of(operation(name).without("reseq-control-partition")), Reason::kMalformedHeader) << name;
    EXPECT_EQ(reason_of(operation(name).with("reseq-control-partition", "1")), Reason::kMisrouted) << name;
    EXPECT_EQ(reason_of(operation(name).with("reseq-control-later", "x")), Reason::kUnsupportedHeader) << name;
    EXPECT_EQ(reason_of(operation(name).with("reseq-control-dry-run", "yes")), Reason::kMalformedHeader) << name;
  }
  EXPECT_EQ(reason_of(operation("expire").with("reseq-control-expected-epoch", "2")), Reason::kMissingSequence);
  EXPECT_EQ(reason_of(operation("expire").with("reseq-control-expected-seq", "x")), Reason::kMalformedSequence);
  EXPECT_EQ(reason_of(operation("expire").with("reseq-target", "nobody")), Reason::kUnknownTarget);
  EXPECT_EQ(reason_of(operation("expire").with("reseq-control-expected-seq", std::nullopt)), Reason::kMalformedHeader);
  const SampleRecord floor = operation("raise-version-floor").with("reseq-version", "7");
  EXPECT_EQ(reason_of(SampleRecord(floor).with("reseq-control-expected-version", "9223372036854775808")),
            Reason::kMalformedHeader);
  DecodeContext many = decode_context();
  many.partitions = 64;
  EXPECT_EQ(reason_of(operation("expire").key("whatever"), many), Reason::kMisrouted);
  EXPECT_EQ(reason_of(operation("dispatch-now").key("whatever"), many), Reason::kMisrouted);
}

TEST(DecodeOperation, IsUnknownUnlessItIsOneOfControl) {
  EXPECT_EQ(reason_of(operation("reset")), Reason::kUnknownControl);
  EXPECT_EQ(reason_of(operation("floor")), Reason::kUnknownControl);
  EXPECT_EQ(reason_of(SampleRecord(Role::kControl).key(std::nullopt)), Reason::kUnknownControl);
  EXPECT_EQ(reason_of(SampleRecord(Role::kControl).with("reseq-control", std::nullopt)), Reason::kMalformedHeader);
  const Command refused = decoded(operation("floor").view(), decode_context());
  EXPECT_TRUE(std::get<Refused>(refused).operation);
}

}  // namespace
}  // namespace reseq::codec
