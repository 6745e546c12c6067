#include "codec/document_decoder.h"

#include "codec/hash.h"
#include "codec/record_size.h"
#include "codec/sequence_text.h"

namespace reseq::codec {

Command decode_request(RecordReader& reader) {
  // Only the resequencer raises a revision.
  reader.refuse_reserved();
  if (reader.has(HeaderKind::kRevision)) reader.refuse(Reason::kUnsupportedHeader);
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
  if (reader.failed()) return reader.refused();
  request.hash = payload_hash(request.what.op, reader.record().payload);
  request.work_bytes = reader.bytes_max();
  if (reader.has_stand_in()) request.work_bytes += header_bytes_max(header::kSeq.size(), kSequenceTextMax);
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
  result.output_bytes = reader.bytes_max();
}

}  // namespace reseq::codec
