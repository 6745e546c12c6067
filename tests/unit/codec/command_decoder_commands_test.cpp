// REGISTER, UNREGISTER and SEQUENCE on `commands`; heartbeats are in journal_headers_test.cpp.
#include <gtest/gtest.h>

#include "codec/command_decoder.h"
#include "sample_record.h"

namespace reseq::codec {
namespace {

template <typename Wanted>
Wanted decoded(const SampleRecord& sample, const TargetTable& table = two_targets()) {
  const Command command = decoded(sample.view(), decode_context(table));
  EXPECT_TRUE(std::holds_alternative<Wanted>(command));
  const auto* wanted = std::get_if<Wanted>(&command);
  return wanted != nullptr ? *wanted : Wanted();
}

Refused refused(const SampleRecord& sample) {
  return decoded<Refused>(sample);
}

SampleRecord command(const char* name) {
  return SampleRecord::command(name);
}

TEST(DecodeCommand, NeedsItsName) {
  EXPECT_EQ(refused(command("register").without("reseq-command")).reason, Reason::kUnknownCommand);
  EXPECT_EQ(refused(command("begin")).reason, Reason::kUnknownCommand);
  EXPECT_EQ(refused(command("register").with("reseq-command", std::nullopt)).reason, Reason::kMalformedHeader);
}

TEST(DecodeCommand, CarriesNoControlHeaders) {
  for (const char* name : {"reseq-control", "reseq-control-id", "reseq-control-partition", "reseq-control-later"})
    EXPECT_EQ(refused(command("register").with(name, "reset")).reason, Reason::kUnsupportedHeader) << name;
}

TEST(DecodeRegister, ReadsEverythingItSays) {
  const auto what = decoded<Register>(command("register")
                                          .with("reseq-epoch", "2")
                                          .with("reseq-revision", "4")
                                          .with("reseq-op", "delete")
                                          .with("reseq-targets", "search"))
                        .what;
  EXPECT_EQ(what.epoch, Epoch(2));
  EXPECT_EQ(what.revision, Revision(4));
  EXPECT_EQ(what.op, Op::kDelete);
  EXPECT_EQ(what.targets, TargetSet::of(kSearch));
}

TEST(DecodeRegister, SaysNothingByANullPayload) {
  EXPECT_EQ(decoded<Register>(command("register").payload(std::nullopt)).what.op, Op::kUpsert);
  EXPECT_EQ(decoded<Register>(command("register").payload(std::nullopt).with("reseq-op", "upsert")).what.op,
            Op::kUpsert);
}

TEST(DecodeUnregister, NamesItsTargets) {
  const auto one = decoded<Unregister>(
      command("unregister").with("reseq-target", "catalogue").with("reseq-targets", "search,catalogue"));
  EXPECT_EQ(one.targets, TargetSet::of(kCatalogue));
  EXPECT_FALSE(one.from_list);
  EXPECT_FALSE(one.everything);

  const auto list = decoded<Unregister>(command("unregister").with("reseq-targets", "search,catalogue"));
  EXPECT_EQ(list.targets, TargetSet(3));
  EXPECT_TRUE(list.from_list);

  const auto all = decoded<Unregister>(command("unregister").with("reseq-target", "*"));
  EXPECT_TRUE(all.everything);
  EXPECT_TRUE(all.targets.empty());

  EXPECT_EQ(refused(command("unregister")).reason, Reason::kMissingTarget);
  EXPECT_EQ(refused(command("unregister").with("reseq-target", "lake")).reason, Reason::kUnknownTarget);
  EXPECT_EQ(refused(command("unregister").with("reseq-target", "a,b")).reason, Reason::kMalformedHeader);
  EXPECT_EQ(refused(command("unregister").with("reseq-target", std::nullopt)).reason, Reason::kMalformedHeader);
}

TEST(DecodeSequence, ReadsEverythingItSays) {
  const SampleRecord sample = command("sequence")
                                  .with("reseq-epoch", "2")
                                  .with("reseq-revision", "4")
                                  .with("reseq-target", "catalogue")
                                  .with("reseq-observed-version", "112000000000000000");
  const auto result = decoded<SequenceResult>(sample);
  EXPECT_EQ(result.epoch, Epoch(2));
  EXPECT_EQ(result.revision, Revision(4));
  EXPECT_EQ(result.target, kCatalogue);
  EXPECT_EQ(result.op, Op::kUpsert);
  EXPECT_EQ(result.observed, Version(112'000'000'000'000'000));
  EXPECT_EQ(result.output_bytes, record_bytes_max(5, 7, sample.view().headers) + added_bytes_max(two_targets(), 0));
}

TEST(DecodeSequence, MayOmitTheTargetWhenThereIsOnlyOne) {
  EXPECT_EQ(decoded<SequenceResult>(command("sequence"), one_target()).target, kSearch);
  EXPECT_EQ(refused(command("sequence")).reason, Reason::kMissingTarget);
  EXPECT_EQ(refused(command("sequence").with("reseq-target", "*")).reason, Reason::kMalformedHeader);
  EXPECT_EQ(refused(command("sequence").with("reseq-target", "lake")).reason, Reason::kUnknownTarget);
}

TEST(DecodeSequence, TakesANullPayloadForADelete) {
  const auto with_target = [] { return command("sequence").with("reseq-target", "search").payload(std::nullopt); };
  EXPECT_EQ(decoded<SequenceResult>(with_target()).op, Op::kDelete);
  EXPECT_EQ(refused(with_target().with("reseq-op", "upsert")).reason, Reason::kOpPayloadConflict);
  EXPECT_EQ(decoded<SequenceResult>(with_target().payload("").with("reseq-op", "upsert")).op, Op::kUpsert);
  EXPECT_EQ(decoded<SequenceResult>(with_target().payload("x").with("reseq-op", "delete")).op, Op::kDelete);
}

TEST(DecodeSequence, TakesANullPayloadForABugWhereDeletesAreExplicit) {
  DecodeContext with = decode_context();
  with.explicit_deletes = true;
  const auto decoded_with = [&](const SampleRecord& sample) { return decoded(sample.view(), with); };
  const auto result = [] { return command("sequence").with("reseq-target", "search").payload(std::nullopt); };
  EXPECT_EQ(std::get<Refused>(decoded_with(result())).reason, Reason::kOpPayloadConflict);
  EXPECT_EQ(std::get<SequenceResult>(decoded_with(result().with("reseq-op", "delete"))).op, Op::kDelete);
  EXPECT_EQ(std::get<SequenceResult>(decoded_with(result().payload(""))).op, Op::kUpsert);
  EXPECT_EQ(std::get<Register>(decoded_with(command("register").payload(std::nullopt))).what.op, Op::kUpsert);
}

TEST(DecodeSequence, MayHaveReadTheHighestVersionOrNone) {
  const auto observed = [](const char* version) {
    const SampleRecord sample =
        command("sequence").with("reseq-target", "search").with("reseq-observed-version", version);
    return decoded<SequenceResult>(sample).observed;
  };
  EXPECT_EQ(observed("9223372036854775807"), Version(kVersionLimit - 1));
  EXPECT_EQ(observed("0"), Version());
}

TEST(DecodeSequence, IgnoresTheListOfTargetsThatAPipelineCopied) {
  const auto result =
      decoded<SequenceResult>(command("sequence").with("reseq-target", "search").with("reseq-targets", " "));
  EXPECT_EQ(result.target, kSearch);
}

TEST(DecodeSequence, TellsThatIdOrSequenceAreLacking) {
  EXPECT_TRUE(refused(command("sequence").key(std::nullopt)).sequence_without_id_or_seq);
  EXPECT_TRUE(refused(command("sequence").key("")).sequence_without_id_or_seq);
  const SampleRecord without_sequence = command("sequence").without("reseq-seq");
  const Refused lacking = refused(without_sequence);
  EXPECT_TRUE(lacking.sequence_without_id_or_seq);
  EXPECT_EQ(lacking.reason, Reason::kMissingSequence);
  EXPECT_EQ(lacking.id, "doc-1");
  EXPECT_FALSE(refused(command("sequence").with("reseq-seq", "x")).sequence_without_id_or_seq);
  EXPECT_FALSE(refused(command("sequence").with("reseq-id", "doc-2")).sequence_without_id_or_seq);
  EXPECT_FALSE(refused(command("sequence").without("reseq-seq").with("reseq-order", "1")).sequence_without_id_or_seq);
  EXPECT_FALSE(refused(command("register").key(std::nullopt)).sequence_without_id_or_seq);
}

TEST(DecodeSequence, RefusesMalformedNumbers) {
  const auto with = [](const char* name, const char* value) {
    return refused(command("sequence").with("reseq-target", "search").with(name, value)).reason;
  };
  EXPECT_EQ(with("reseq-observed-version", "1.5"), Reason::kMalformedHeader);
  EXPECT_EQ(with("reseq-observed-version", "18446744073709551616"), Reason::kMalformedHeader);
  EXPECT_EQ(with("reseq-observed-version", "9223372036854775808"), Reason::kMalformedHeader) << "2^63 is no version";
  EXPECT_EQ(with("reseq-revision", "-1"), Reason::kMalformedHeader);
}

}  // namespace
}  // namespace reseq::codec
