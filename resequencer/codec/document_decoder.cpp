#include "codec/document_decoder.h"

#include "base/assert.h"
#include "codec/hash.h"
#include "codec/held_rows.h"
#include "codec/record_size.h"
#include "codec/sequence_text.h"

namespace reseq::codec {
namespace {

// Only the resequencer raises a revision, counts attempts and gives leases.
constexpr HeaderKinds kNotOfRequests = {HeaderKind::kReserved, HeaderKind::kRevision, HeaderKind::kAttempt,
                                        HeaderKind::kLeaseUntil};
// Nobody waits without a journal.
constexpr HeaderKinds kNotAtOnce = {HeaderKind::kReserved,   HeaderKind::kRevision, HeaderKind::kAttempt,
                                    HeaderKind::kLeaseUntil, HeaderKind::kPriority, HeaderKind::kProcessAt,
                                    HeaderKind::kExpiresAt};

Wish read_wish(RecordReader& reader, Op op) {
  Wish wish;
  wish.priority = reader.number<std::uint8_t>(HeaderKind::kPriority);
  wish.process_at = reader.date(HeaderKind::kProcessAt, 0);
  // That of 1970 is what some say who mean none: nobody is to guess.
  wish.expires_at = reader.date(HeaderKind::kExpiresAt, 1);
  // A document that is not deleted because it took long would stay for ever.
  if (op == Op::kDelete && reader.has(HeaderKind::kExpiresAt)) reader.refuse(Reason::kUnsupportedHeader);
  return wish;
}

// What is known of its bytes.
inline void weigh(const RecordReader& reader, Request& request) {
  request.hash = payload_hash(request.what.op, reader.record().payload);
  request.work_bytes = reader.bytes_max();
  if (reader.has_stand_in()) request.work_bytes += header_bytes_max(header::kSeq.size(), kSequenceTextMax);
}

[[gnu::noinline]] Command with_wish(RecordReader& reader, Request& request) {
  const DecodeContext& context = reader.context();
  RESEQ_ASSERT(context.arena != nullptr, "a decoder without a place for wishes");
  Wish wish;
  if (context.journal) wish = read_wish(reader, request.what.op);
  if (reader.failed()) return reader.refused();
  weigh(reader, request);
  request.work_bytes += dispatch_bytes_max();
  const InputRecord record = as_in_log(reader.record());
  wish.place.offset = record.offset;
  wish.place.timestamp = record.timestamp;
  if (context.hash != nullptr) wish.place.hash = context.hash->of_input(record.key, record.payload);
  wish.place.record_bytes = held_bytes(record);
  wish.place.work_bytes = request.work_bytes;
  request.wish = context.arena->copy(std::span<const Wish>(&wish, 1)).data();
  return request;
}

}  // namespace

Command decode_request(RecordReader& reader) {
  const bool journal = reader.context().journal;
  reader.refuse_any(journal ? kNotOfRequests : kNotAtOnce);
  if (const auto name = reader.text(HeaderKind::kCommand); name && name != "register")
    reader.refuse(Reason::kUnknownCommand);
  if (reader.context().elsewhere == nullptr)
    reader.read_id();
  else
    reader.read_elsewhere(*reader.context().elsewhere);
  reader.check_partition();
  if (reader.context().cloudevents) reader.read_cloudevent();

  Request request;
  request.what = {reader.id(), {}, reader.sequence(), Revision(), Op::kUpsert, {}, reader.record().headers};
  request.what.epoch = reader.epoch();
  request.what.targets = reader.targets();
  request.what.op = reader.op(!reader.context().tap);
  request.reprocess = reader.flag(HeaderKind::kReprocess);
  // What comes to something that waits is kept as that is.
  if (journal || reader.context().hash != nullptr) return with_wish(reader, request);
  if (reader.failed()) return reader.refused();
  weigh(reader, request);
  return request;
}

Command decode_register(RecordReader& reader) {
  reader.read_id();
  reader.check_partition();
  Registration what{reader.id(), {}, reader.sequence(), Revision(), Op::kUpsert, {}, reader.record().headers};
  what.epoch = reader.epoch();
  what.revision = reader.revision();
  what.targets = reader.targets();
  what.op = reader.op(false);
  (void)reader.attempt();
  if (reader.failed()) return reader.refused();
  return Register{what};
}

Command decode_unregister(RecordReader& reader) {
  reader.read_id();
  reader.check_partition();
  Unregister command;
  command.id = reader.id();
  command.sequence = reader.sequence();
  command.epoch = reader.epoch();
  command.revision = reader.revision();
  if (const auto name = reader.text(HeaderKind::kTarget)) {
    command.everything = *name == "*";
    if (!command.everything)
      if (const auto number = reader.target(*name)) command.targets = TargetSet::of(*number);
  } else if (const auto list = reader.targets()) {
    command.targets = *list;
    command.from_list = true;
  } else {
    reader.refuse(Reason::kMissingTarget);
  }
  (void)reader.attempt();
  if (reader.failed()) return reader.refused();
  return command;
}

Command decode_heartbeat(RecordReader& reader) {
  reader.read_id();
  reader.check_partition();
  Heartbeat command;
  command.id = reader.id();
  command.sequence = reader.sequence();
  command.epoch = reader.epoch();
  command.revision = reader.revision();
  command.attempt = reader.attempt();
  command.timestamp = reader.record().timestamp;
  if (reader.failed()) return reader.refused();
  return command;
}

Command decode_result(RecordReader& reader) {
  reader.expect_result();
  SequenceResult result;
  read_result(reader, result);
  if (reader.failed()) return reader.refused();
  return result;
}

void read_result(RecordReader& reader, SequenceResult& result) {
  reader.read_id();
  reader.check_partition();
  result.id = reader.id();
  result.sequence = reader.sequence();
  result.epoch = reader.epoch();
  result.revision = reader.revision();
  if (const auto name = reader.text(HeaderKind::kTarget))
    result.target = reader.target(*name).value_or(TargetNumber());
  else if (reader.context().targets->names().size() != 1)
    reader.refuse(Reason::kMissingTarget);
  result.op = reader.op(true);
  result.observed = reader.version(HeaderKind::kObservedVersion);
  result.attempt = reader.attempt();
  result.output_bytes = reader.bytes_max();
}

}  // namespace reseq::codec
