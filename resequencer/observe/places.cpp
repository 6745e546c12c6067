#include "observe/places.h"

#include "codec/hash.h"
#include "codec/sequence_text.h"

namespace reseq::observe {

namespace {

constexpr std::string_view kHeaderPrefix = "header:";

struct Read {
  DocumentId id;
  Sequence sequence;
  Reason reason = Reason::kNone;
};

Read read(const codec::InputRecord& record, const Places& places, SequenceKind kind) {
  Read read;
  const auto id = value_at(places.id, record);
  if (!id) return {{}, {}, Reason::kMissingId};
  if (id->empty()) return {{}, {}, Reason::kEmptyId};
  if (id->size() > kMaxIdBytes) return {{}, {}, Reason::kIdTooLong};
  read.id = *id;
  const auto text = value_at(places.sequence, record);
  const auto sequence = text ? codec::parse_sequence(kind, *text) : std::nullopt;
  if (!text)
    read.reason = Reason::kMissingSequence;
  else if (!sequence)
    read.reason = Reason::kMalformedSequence;
  read.sequence = sequence.value_or(Sequence());
  return read;
}

}  // namespace

std::optional<Place> parse_place(std::string_view text) {
  if (text == "key") return Place{};
  if (!text.starts_with(kHeaderPrefix) || text.size() == kHeaderPrefix.size()) return std::nullopt;
  return Place{std::string(text.substr(kHeaderPrefix.size()))};
}

std::optional<std::string_view> value_at(const Place& place, const codec::InputRecord& record) {
  if (place.is_key()) return record.key;
  std::optional<std::string_view> last;
  for (const Header& header : record.headers)
    if (header.name == place.header) last = header.value;
  return last;
}

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
    const auto name = value_at(*places.target, record);
    if (!name) return Refused{Reason::kMissingTarget, false, what.id};
    const auto number = targets.find(*name);
    if (!number) return Refused{Reason::kUnknownTarget, false, what.id};
    result.target = *number;
  }
  return result;
}

}  // namespace reseq::observe
