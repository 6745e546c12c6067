#include "codec/command_decoder.h"

#include "base/assert.h"
#include "codec/document_decoder.h"
#include "codec/operation_decoder.h"
#include "codec/record_reader.h"

namespace reseq::codec {
namespace {

Command decode_command(RecordReader& reader) {
  if (says_operation(reader)) reader.refuse(Reason::kUnsupportedHeader);
  const Header* const command = reader.find(HeaderKind::kCommand);
  const bool fails = reader.context().failures && command != nullptr && command->value == "fail";
  // The others of what a journal reads or writes are copied from work.
  constexpr HeaderKinds kReserved = {HeaderKind::kReserved};
  reader.refuse_any(fails ? kReserved : kReserved | kOfFailures);
  if (fails) return decode_fail(reader);
  const auto name = reader.text(HeaderKind::kCommand);
  if (name == "sequence") return decode_result(reader);
  if (name == "register") return decode_register(reader);
  if (name == "unregister") return decode_unregister(reader);
  if (name == "heartbeat") return decode_heartbeat(reader);
  return reader.refused(Reason::kUnknownCommand);
}

}  // namespace

Command decode(InputRecord& record, const DecodeContext& context) {
  RESEQ_ASSERT(context.targets != nullptr, "a decoder without a target table");
  const std::uint64_t added = record.role == Role::kRequests ? 0 : kHeadersAddedMax;
  if (record.headers.size() > context.headers_max + added) {
    record.headers_left_out = static_cast<std::uint32_t>(record.headers.size());
    record.headers = {};
  }
  RecordReader reader(record, context);
  if (record.headers_left_out > 0) return reader.refused(Reason::kTooManyHeaders);
  switch (record.role) {
    case Role::kRequests:
      return says_operation(reader) ? decode_reset(reader) : decode_request(reader);
    case Role::kCommands:
      return decode_command(reader);
    case Role::kControl:
      return decode_operation(reader);
    default:
      break;
  }
  RESEQ_ASSERT(false, "a record of a topic that is no input");
  return Refused{};
}

}  // namespace reseq::codec
