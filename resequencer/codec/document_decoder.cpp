#include "codec/document_decoder.h"

#include "base/assert.h"
#include "codec/failure_words.h"
#include "codec/hash.h"
#include "codec/held_rows.h"
#include "codec/record_size.h"
#include "codec/sequence_text.h"

namespace reseq::codec {
namespace {

// Only the resequencer raises a revision, counts attempts and gives leases.
constexpr HeaderKinds kNotOfRequests = kOfFailures | HeaderKinds{HeaderKind::kReserved, HeaderKind::kRevision,
                                                                 HeaderKind::kAttempt, HeaderKind::kLeaseUntil};
// Nobody waits without a journal.
constexpr HeaderKinds kNotAtOnce =
    kNotOfRequests | HeaderKinds{HeaderKind::kPriority, HeaderKind::kProcessAt, HeaderKind::kExpiresAt};

// Which order of which document a command is about.
template <typename AnyCommand>
[[gnu::always_inline]] inline void read_order(RecordReader& reader, AnyCommand& command) {
  reader.read_id();
  reader.check_partition();
  command.id = reader.id();
  command.sequence = reader.sequence();
  command.epoch = reader.epoch();
  command.revision = reader.revision();
}

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
  const InputRecord record = as_in_log(reader.record());
  if (context.journal || context.reads_again) {
    request.work_bytes += dispatch_bytes_max();
    wish.place.offset = record.offset;
    wish.place.timestamp = record.timestamp;
    if (context.hash != nullptr) wish.place.hash = context.hash->of_input(record.key, record.payload);
    wish.place.record_bytes = held_bytes(record);
    wish.place.work_bytes = request.work_bytes;
  }
  if (context.hash != nullptr && context.content_headers != nullptr)
    wish.content =
        content_hash(*context.hash, request.what.op, record.payload, record.headers, *context.content_headers);
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
  Unregister command;
  read_order(reader, command);
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
  Heartbeat command;
  read_order(reader, command);
  command.attempt = reader.attempt();
  command.timestamp = reader.record().timestamp;
  if (reader.failed()) return reader.refused();
  return command;
}

// A result of work that has none. What it does not say is the least that it can mean: a document that fails, nobody
// knows why. Whatever an error message is, it costs nobody the command.
Command decode_fail(RecordReader& reader) {
  Fail command;
  read_order(reader, command);
  if (const auto name = reader.text(HeaderKind::kTarget)) {
    command.everything = *name == "*";
    if (!command.everything) command.target = reader.target(*name).value_or(TargetNumber());
  } else {
    reader.refuse(Reason::kMissingTarget);
  }
  command.attempt = reader.attempt();
  if (const auto word = reader.text(HeaderKind::kFailure)) {
    const auto kind = failure_kind(*word);
    if (!kind) reader.refuse(Reason::kMalformedHeader);
    command.kind = kind.value_or(FailureKind::kUnknown);
  }
  if (const auto word = reader.text(HeaderKind::kFailureScope)) {
    const auto scope = failure_scope(*word);
    if (!scope) reader.refuse(Reason::kMalformedHeader);
    command.scope = scope.value_or(FailureScope::kDocument);
  }
  const auto effect = reader.text(HeaderKind::kEffect);
  command.without_effect = effect == "none";
  if (effect && !command.without_effect) reader.refuse(Reason::kMalformedHeader);
  if (const Header* error = reader.find(HeaderKind::kError); error != nullptr && error->value)
    command.error = error->value->substr(0, kMaxErrorBytes);
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
  read_order(reader, result);
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
