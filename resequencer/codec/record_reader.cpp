#include "codec/record_reader.h"

#include "base/assert.h"
#include "codec/record_size.h"
#include "codec/target_names.h"
#include "codec/timestamp_text.h"

namespace reseq::codec {

// REQUIRES: there is one, and the key is the id.
void RecordReader::check_repeated_id() {
  const Header* header = found_.find(HeaderKind::kId);
  if (!header->value) return refuse(Reason::kMalformedHeader);
  if (*header->value != *record_.key) refuse(Reason::kIdKeyMismatch);
}

void RecordReader::read_elsewhere(const InputPlaces& places) {
  if (places.id.is_key())
    read_id();
  else
    read_id_in(find_header(record_.headers, places.id.header));
  if (!places.sequence) return;
  found_.forget(HeaderKind::kSeq);
  said_.kinds.remove(HeaderKind::kSeq);
  stand_in_ = find_header(record_.headers, places.sequence->header);
}

void RecordReader::read_id_in(const Header* header) {
  id_ = {};
  if (header == nullptr) return refuse(Reason::kMissingId);
  if (!header->value) return refuse(Reason::kMalformedHeader);
  if (header->value->empty()) return refuse(Reason::kEmptyId);
  if (header->value->size() > kMaxIdBytes) return refuse(Reason::kIdTooLong);
  RESEQ_ASSERT(context_.arena != nullptr, "a decoder without a place for ids");
  const std::optional<std::string_view> key[] = {record_.key};
  said_.key_in_log = context_.arena->copy(std::span<const std::optional<std::string_view>>(key)).data();
  record_.key = context_.arena->copy(*header->value);
  id_ = *record_.key;
  if (found_.has(HeaderKind::kId)) check_repeated_id();
}

void RecordReader::read_cloudevent() {
  const Header* subject = find_header(record_.headers, header::kCeSubject);
  if (subject != nullptr && subject->value != record_.key) refuse(Reason::kIdKeyMismatch);
  const bool elsewhere = context_.elsewhere != nullptr && context_.elsewhere->sequence;
  if (!found_.has(HeaderKind::kSeq) && !elsewhere) stand_in_ = find_header(record_.headers, header::kCeSequence);
}

std::optional<UnixMs> RecordReader::date(HeaderKind kind, std::int64_t least) {
  const auto written = text(kind);
  if (!written) return std::nullopt;
  const auto ms = parse_date_ms(*written);
  if (!ms || *ms < least) {
    refuse(Reason::kMalformedHeader);
    return std::nullopt;
  }
  return UnixMs(*ms);
}

std::optional<TargetSet> RecordReader::targets() {
  const auto list = text(HeaderKind::kTargets);
  if (!list) return std::nullopt;
  const auto parsed = parse_targets(*list, *context_.targets);
  if (const auto* reason = std::get_if<Reason>(&parsed)) {
    refuse(*reason);
    return std::nullopt;
  }
  said_.targets = std::get<TargetSet>(parsed);
  return said_.targets;
}

std::optional<TargetNumber> RecordReader::target(std::string_view name) {
  const auto parsed = parse_target(name, *context_.targets);
  if (const auto* reason = std::get_if<Reason>(&parsed)) {
    refuse(*reason);
    return std::nullopt;
  }
  return std::get<TargetNumber>(parsed);
}

std::uint64_t RecordReader::bytes_max() const {
  return record_bytes_max(id_.size(), record_.payload ? record_.payload->size() : 0, record_.headers) +
         added_bytes_max(*context_.targets, context_.cloudevents ? id_.size() : 0);
}

}  // namespace reseq::codec
