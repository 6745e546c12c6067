#include "observe/places.h"

#include "codec/hash.h"
#include "codec/sequence_text.h"

namespace reseq::observe {

namespace {

struct Read {
  DocumentId id;
  Sequence sequence;
  Reason reason = Reason::kNone;
};

Read read(const codec::InputRecord& record, const Places& places, SequenceKind kind) {
  Read read;
  const auto id = codec::value_at(places.id, record.key, record.headers);
  if (!id) return {{}, {}, Reason::kMissingId};
  if (id->empty()) return {{}, {}, Reason::kEmptyId};
  if (id->size() > kMaxIdBytes) return {{}, {}, Reason::kIdTooLong};
  read.id = *id;
  const auto text = codec::value_at(places.sequence, record.key, record.headers);
  const auto sequence = text ? codec::parse_sequence(kind, *text) : std::nullopt;
  if (!text)
    read.reason = Reason::kMissingSequence;
  else if (!sequence)
    read.reason = Reason::kMalformedSequence;
  read.sequence = sequence.value_or(Sequence());
  return read;
}

}  // namespace

Command decode(const codec::InputRecord& record, const Places& places, SequenceKind kind, const TargetTable& targets) {
  const Read what = read(record, places, kind);
  if (what.reason != Reason::kNone) return Refused{what.reason, false, what.id};
  if (record.role == Role::kRequests) {
    Request request;
    request.what.id = what.id;
    request.what.sequence = what.sequence;
    request.what.headers = record.headers;
    request.hash = codec::payload_hash(Op::kUpsert, record.payload);
    return request;
  }
  SequenceResult result;
  result.id = what.id;
  result.sequence = what.sequence;
  if (places.target) {
    const auto name = codec::value_at(*places.target, record.key, record.headers);
    if (!name) return Refused{Reason::kMissingTarget, false, what.id};
    const auto number = targets.find(*name);
    if (!number) return Refused{Reason::kUnknownTarget, false, what.id};
    result.target = *number;
  }
  return result;
}

}  // namespace reseq::observe
