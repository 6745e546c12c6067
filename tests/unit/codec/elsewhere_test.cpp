// Requests whose producers know other names: a table of what is read where, and what `work` says of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "codec/sequence_text.h"
#include "sample_record.h"

namespace reseq::codec {
namespace {

using testing::Contains;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

using Text = std::optional<std::string>;
using Headers = std::vector<std::pair<std::string, Text>>;

struct PlacedCase {
  const char* sentence;
  const char* id;        // input.id
  const char* sequence;  // input.sequence; empty = reseq-seq
  Text key;
  Headers headers;
  Reason reason;
  const char* said_id;  // of the command; of what is refused: the id that its event names
  std::uint64_t said_sequence;
};

const std::string kLong(kMaxIdBytes + 1, 'x');

const std::vector<PlacedCase>& rows() {
  constexpr auto kNone = Reason::kNone;
  static const std::vector<PlacedCase> all = {
      {"a number in another header", "key", "header:v", "a", {{"v", "7"}}, kNone, "a", 7},
      {"of a doubled header the last", "key", "header:v", "a", {{"v", "7"}, {"v", "8"}}, kNone, "a", 8},
      {"reseq-seq beside it is not read", "key", "header:v", "a", {{"v", "7"}, {"reseq-seq", "9"}}, kNone, "a", 7},
      {"nor is it, whatever it says", "key", "header:v", "a", {{"reseq-seq", "x"}, {"v", "7"}}, kNone, "a", 7},
      {"reseq-seq alone", "key", "header:v", "a", {{"reseq-seq", "9"}}, Reason::kMissingSequence, "a", 0},
      {"no number", "key", "header:v", "a", {}, Reason::kMissingSequence, "a", 0},
      {"a null number", "key", "header:v", "a", {{"v", std::nullopt}}, Reason::kMalformedHeader, "a", 0},
      {"the last one is null", "key", "header:v", "a", {{"v", "7"}, {"v", {}}}, Reason::kMalformedHeader, "a", 0},
      {"no number at all", "key", "header:v", "a", {{"v", "v7"}}, Reason::kMalformedSequence, "a", 0},
      {"an empty one", "key", "header:v", "a", {{"v", ""}}, Reason::kMalformedSequence, "a", 0},
      {"names have upper and lower case", "key", "header:v", "a", {{"V", "7"}}, Reason::kMissingSequence, "a", 0},
      {"an id in a header", "header:doc", "", "tenant", {{"doc", "a"}, {"reseq-seq", "7"}}, kNone, "a", 7},
      {"and no key", "header:doc", "", std::nullopt, {{"doc", "a"}, {"reseq-seq", "7"}}, kNone, "a", 7},
      {"both", "header:doc", "header:v", "tenant", {{"doc", "a"}, {"v", "7"}}, kNone, "a", 7},
      {"the key is no id then", "header:doc", "header:v", "a", {{"v", "7"}}, Reason::kMissingId, "", 0},
      {"a null id", "header:doc", "header:v", "a", {{"doc", {}}, {"v", "7"}}, Reason::kMalformedHeader, "", 0},
      {"an empty id", "header:doc", "header:v", "a", {{"doc", ""}, {"v", "7"}}, Reason::kEmptyId, "", 0},
      {"a long id", "header:doc", "header:v", "a", {{"doc", kLong}, {"v", "7"}}, Reason::kIdTooLong, "", 0},
      {"reseq-id repeats it",
       "header:doc",
       "",
       "t",
       {{"doc", "a"}, {"reseq-id", "a"}, {"reseq-seq", "7"}},
       kNone,
       "a",
       7},
      {"reseq-id is the key", "header:doc", "", "t", {{"doc", "a"}, {"reseq-id", "t"}}, Reason::kIdKeyMismatch, "a", 0},
      {"reseq-id is null", "header:doc", "", "t", {{"doc", "a"}, {"reseq-id", {}}}, Reason::kMalformedHeader, "a", 0},
      {"no id and no number", "header:doc", "header:v", "a", {}, Reason::kMissingId, "", 0},
  };
  return all;
}

InputPlaces places_of(const PlacedCase& row) {
  return {*parse_place(row.id), parse_place(row.sequence)};
}

SampleRecord sample_of(const PlacedCase& row) {
  SampleRecord sample = SampleRecord(Role::kRequests).key(row.key);
  for (const auto& [name, value] : row.headers) sample.with(name, value);
  return sample;
}

std::vector<std::pair<std::string, std::string>> edits(const OutputRecord& record) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const HeaderEdit& edit : record.edits) all.emplace_back(edit.name, edit.value.value_or("<removed>"));
  return all;
}

TEST(Elsewhere, IsReadByTheTable) {
  for (const PlacedCase& row : rows()) {
    SCOPED_TRACE(row.sentence);
    const InputPlaces places = places_of(row);
    Arena arena;
    DecodeContext context = decode_context();
    context.elsewhere = &places;
    context.arena = &arena;
    const SampleRecord sample = sample_of(row);
    const Command command = decoded(sample.view(), context);
    const auto* refused = std::get_if<Refused>(&command);
    EXPECT_EQ(refused == nullptr ? Reason::kNone : refused->reason, row.reason);
    if (refused != nullptr) {
      EXPECT_EQ(refused->id, row.said_id);
      continue;
    }
    const auto& request = std::get<Request>(command);
    EXPECT_EQ(request.what.id, row.said_id);
    EXPECT_EQ(request.what.sequence, Sequence::of_number(row.said_sequence));
  }
}

TEST(Elsewhere, GoesToWorkInTheWordsOfTheContract) {
  for (const PlacedCase& row : rows()) {
    if (row.reason != Reason::kNone) continue;
    SCOPED_TRACE(row.sentence);
    const InputPlaces places = places_of(row);
    Arena arena;
    DecodeContext context = decode_context();
    context.elsewhere = &places;
    context.arena = &arena;
    const SampleRecord sample = sample_of(row);
    InputRecord record = sample.view();
    const Command command = decode(record, context);
    const auto& request = std::get<Request>(command);
    EncodeContext encoding;
    encoding.targets = &two_targets();
    const Emission forward{InputIndex(0),
                           Forward{{Epoch(), request.what.sequence, Revision()}, Op::kUpsert, two_targets().all()}};
    const OutputRecord work = encode(forward, record, encoding, arena);
    EXPECT_EQ(work.key, row.said_id);
    if (places.sequence)
      EXPECT_THAT(edits(work), Contains(Pair("reseq-seq", std::to_string(row.said_sequence))));
    else
      EXPECT_THAT(edits(work), Not(Contains(Pair("reseq-seq", testing::_))));
    // What was refused of a record is told with its headers as they came, under the id.
    const Emission letter{InputIndex(0), DeadLetter{Reason::kSequenceReused, std::nullopt}};
    EXPECT_EQ(encode(letter, record, encoding, arena).key, row.said_id);
  }
}

TEST(Elsewhere, TheIdOutlivesTheHeadersThatMoveOn) {
  const InputPlaces places{Place{"doc"}, std::nullopt};
  Arena arena;
  DecodeContext context = decode_context();
  context.elsewhere = &places;
  context.arena = &arena;
  auto sample = std::make_unique<SampleRecord>(SampleRecord::request().with("doc", "a document with a long name"));
  InputRecord record = sample->view();
  const Command command = decode(record, context);
  sample.reset();
  EXPECT_EQ(std::get<Request>(command).what.id, "a document with a long name");
  EXPECT_EQ(record.key, "a document with a long name");
}

TEST(Elsewhere, ThePartitionIsThatOfTheId) {
  const InputPlaces places{Place{"doc"}, std::nullopt};
  Arena arena;
  DecodeContext context = decode_context();
  context.elsewhere = &places;
  context.arena = &arena;
  context.partitions = 64;
  const auto reason = [&](const std::string& key, const std::string& id) {
    const SampleRecord sample = SampleRecord::request().key(key).with("doc", id);
    const Command command = decoded(sample.view(), context);
    const auto* refused = std::get_if<Refused>(&command);
    return refused == nullptr ? Reason::kNone : refused->reason;
  };
  std::string here;  // an id of partition 0, in which samples lie
  for (int i = 0; here.empty(); ++i)
    if (partition_of(std::to_string(i), Partitioner::kMurmur2, 64) == Partition(0)) here = std::to_string(i);
  EXPECT_EQ(reason("x" + here, here), Reason::kNone);
  EXPECT_EQ(reason(here, "x" + here), Reason::kMisrouted);
  context.partitioner = Partitioner::kUnchecked;
  EXPECT_EQ(reason(here, "x" + here), Reason::kNone);
}

// What the pipeline and operators write is ours: their key is the id and their number is in reseq-seq.
TEST(Elsewhere, IsOfRequestsAlone) {
  const InputPlaces places{Place{"doc"}, Place{"v"}};
  Arena arena;
  DecodeContext context = decode_context();
  context.elsewhere = &places;
  context.arena = &arena;
  for (const bool tap : {false, true}) {
    context.tap = tap;
    const SampleRecord result =
        SampleRecord::command("sequence").with("reseq-target", "search").with("doc", "whole").with("v", "99");
    const Command command = decoded(result.view(), context);
    EXPECT_EQ(std::get<SequenceResult>(command).id, "doc-1");
    EXPECT_EQ(std::get<SequenceResult>(command).sequence, kSeven);
    const SampleRecord copied =
        SampleRecord(Role::kCommands).with("reseq-command", "sequence").with("reseq-target", "search").with("v", "7");
    EXPECT_EQ(std::get<Refused>(decoded(copied.view(), context)).reason, Reason::kMissingSequence);
  }
}

TEST(Elsewhere, AResetAndWhatIsNotReadNameNoDocument) {
  const InputPlaces places{Place{"doc"}, Place{"v"}};
  Arena arena;
  DecodeContext context = decode_context();
  context.elsewhere = &places;
  context.arena = &arena;
  const SampleRecord reset = SampleRecord(Role::kRequests)
                                 .with("reseq-control", "reset")
                                 .with("reseq-control-id", "r")
                                 .with("reseq-control-partition", "0")
                                 .with("reseq-epoch", "3");
  EXPECT_EQ(std::get<Reset>(decoded(reset.view(), context)).default_epoch, Epoch(3));
  context.headers_max = 1;
  const SampleRecord many = SampleRecord(Role::kRequests).with("doc", "a").with("v", "7");
  const auto refused = std::get<Refused>(decoded(many.view(), context));
  EXPECT_EQ(refused.reason, Reason::kTooManyHeaders);
  EXPECT_EQ(refused.id, "");
}

TEST(Elsewhere, GoesBeforeWhatACloudEventSays) {
  const InputPlaces places{Place{"ce_subject"}, Place{"ce_time"}};
  Arena arena;
  DecodeContext context = decode_context();
  context.cloudevents = true;
  context.sequence_kind = SequenceKind::kTimestamp;
  context.elsewhere = &places;
  context.arena = &arena;
  const auto event = [] {
    return SampleRecord(Role::kRequests).key("tenant").with("ce_subject", "a").with("ce_sequence", "no time");
  };
  const SampleRecord timed = event().with("ce_time", "2024-05-01T10:00:00Z");
  const Command command = decoded(timed.view(), context);
  EXPECT_EQ(std::get<Request>(command).what.id, "a");
  EXPECT_EQ(std::get<Request>(command).what.sequence,
            *parse_sequence(SequenceKind::kTimestamp, "2024-05-01T10:00:00Z"));
  EXPECT_EQ(std::get<Refused>(decoded(event().view(), context)).reason, Reason::kMissingSequence);
}

// The record on `work` has a header more than the request; who is short of room must know.
TEST(Elsewhere, TheBoundKnowsWhatIsAdded) {
  const InputPlaces places{Place{}, Place{"v"}};
  Arena arena;
  DecodeContext context = decode_context();
  context.elsewhere = &places;
  context.arena = &arena;
  for (const auto& [kind, text] : {std::pair(SequenceKind::kText, std::string(Sequence::kMaxBytes, 'z')),
                                   std::pair(SequenceKind::kTimestamp, std::string("2024-05-01T10:00:00.000000001Z")),
                                   std::pair(SequenceKind::kU64, std::string("18446744073709551615"))}) {
    context.sequence_kind = kind;
    const SampleRecord sample = SampleRecord(Role::kRequests).with("v", text);
    InputRecord record = sample.view();
    const Command command = decode(record, context);
    const auto& request = std::get<Request>(command);
    EncodeContext encoding;
    encoding.targets = &two_targets();
    encoding.sequence_kind = kind;
    const Order largest{Epoch(UINT32_MAX), request.what.sequence, Revision(UINT64_MAX)};
    const OutputRecord work =
        encode({InputIndex(0), Forward{largest, Op::kDelete, two_targets().all()}}, record, encoding, arena);
    std::uint64_t bytes = record_bytes_max(work.key->size(), work.payload->size(), record.headers);
    for (const HeaderEdit& edit : work.edits)
      if (edit.value) bytes += header_bytes_max(edit.name.size(), edit.value->size());
    EXPECT_LE(bytes, request.work_bytes);
  }
}

}  // namespace
}  // namespace reseq::codec
