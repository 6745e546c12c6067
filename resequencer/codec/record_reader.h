// RecordReader: what the decoders of all inputs have in common. It reads the parts of one record, and remembers the
// first reason to refuse it.
// Invariant: the first refusal stays; what is read after it is not used. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "codec/command_decoder.h"
#include "codec/decimal.h"
#include "codec/hash.h"
#include "codec/header_names.h"
#include "codec/sequence_text.h"
#include "model/command.h"

namespace reseq::codec {

class RecordReader {
 public:
  // REQUIRES: record and context outlive this; as decode() requires.
  RecordReader(InputRecord& record, const DecodeContext& context)
      : record_(record), context_(context), found_(record.headers), said_(record.said.emplace()) {
    said_.kinds = found_.kinds();
    if (record.key && record.key->size() <= kMaxIdBytes) id_ = *record.key;
  }

  [[nodiscard]] const InputRecord& record() const { return record_; }
  [[nodiscard]] const DecodeContext& context() const { return context_; }
  [[nodiscard]] bool has(HeaderKind kind) const { return found_.has(kind); }
  [[nodiscard]] const Header* find(HeaderKind kind) const { return found_.find(kind); }
  [[nodiscard]] DocumentId id() const { return id_; }
  // Something is read in the place of reseq-seq.
  [[nodiscard]] bool has_stand_in() const { return stand_in_ != nullptr; }

  void refuse(Reason reason) {
    if (!failed()) reason_ = reason;
  }
  [[nodiscard]] bool failed() const { return reason_ != Reason::kNone; }
  // REQUIRES: failed().
  [[nodiscard]] Command refused() const { return Refused{reason_, lacking_, id_, record_.role == Role::kControl}; }
  [[nodiscard]] Command refused(Reason reason) {
    if (has_id_in_header()) id_ = {};  // what the key says is no id
    refuse(reason);
    return refused();
  }
  // One of these would be wrong to ignore.
  void refuse_any(HeaderKinds kinds) {
    if (found_.kinds().has_any(kinds)) refuse(Reason::kUnsupportedHeader);
  }

  // Policy on_missing is for a result without id or sequence: to be said before they are read.
  void expect_result() { is_result_ = true; }

  // The id is the key; reseq-id may repeat it.
  void read_id();
  // Of a request whose producer knows other names: what the key or reseq-seq say in their place is not read.
  void read_elsewhere(const InputPlaces& places);
  // The subject is the id, which the key says, too; the sequence stands in for reseq-seq, unless that stands elsewhere.
  void read_cloudevent();
  void check_partition();

  // Empty when the header is absent or, with malformed_header, null.
  std::optional<std::string_view> text(HeaderKind kind) {
    const Header* header = found_.find(kind);
    if (header == nullptr) return std::nullopt;
    if (!header->value) refuse(Reason::kMalformedHeader);
    return header->value;
  }
  template <typename Number>
  std::optional<Number> number(HeaderKind kind) {
    const auto digits = text(kind);
    if (!digits) return std::nullopt;
    const auto value = parse_decimal<Number>(*digits);
    if (!value) refuse(Reason::kMalformedHeader);
    return value;
  }
  Sequence sequence();
  std::optional<Epoch> epoch() {
    const auto value = number<std::uint32_t>(HeaderKind::kEpoch);
    if (value) said_.epoch = Epoch(*value);
    return said_.epoch;
  }
  // Of a dispatch, from 1 on; 0 = it is not said.
  std::uint32_t attempt() {
    if (!found_.has(HeaderKind::kAttempt)) return 0;
    const std::uint32_t value = number<std::uint32_t>(HeaderKind::kAttempt).value_or(0);
    if (value == 0) refuse(Reason::kMalformedHeader);
    return value;
  }
  // Milliseconds since 1970 or RFC 3339, of which what is below a millisecond is cut off.
  std::optional<UnixMs> date(HeaderKind kind, std::int64_t least);
  Revision revision() { return Revision(number<std::uint64_t>(HeaderKind::kRevision).value_or(0)); }
  std::optional<TargetSet> targets();
  std::optional<TargetNumber> target(std::string_view name);
  // `payload_says`: without a header a null payload means delete, unless deletes are explicit; with `upsert` it is a
  // conflict.
  Op op(bool payload_says);
  bool flag(HeaderKind kind);
  // 0 is none.
  std::optional<Version> version(HeaderKind kind) {
    const auto value = number<std::uint64_t>(kind);
    if (value && *value >= kVersionLimit) refuse(Reason::kMalformedHeader);
    return value ? std::optional(Version(*value)) : std::nullopt;
  }

  // Upper bound of the record when it goes on, with all that is added to it.
  [[nodiscard]] std::uint64_t bytes_max() const;

 private:
  [[nodiscard]] bool has_id_in_header() const {
    return context_.elsewhere != nullptr && !context_.elsewhere->id.is_key() && record_.role == Role::kRequests;
  }
  void read_id_in(const Header* header);
  void check_repeated_id();

  InputRecord& record_;
  const DecodeContext& context_;
  FoundHeaders found_;
  Said& said_;
  Reason reason_ = Reason::kNone;
  bool is_result_ = false;
  bool lacking_ = false;
  const Header* stand_in_ = nullptr;  // for reseq-seq, which is not there
  DocumentId id_;
};

// Every request takes this way.
inline void RecordReader::read_id() {
  const Header* header = found_.find(HeaderKind::kId);
  if (!record_.key) {
    if (header != nullptr && header->value && header->value->size() <= kMaxIdBytes) id_ = *header->value;
    if (header == nullptr) lacking_ = is_result_ && !failed();
    return refuse(header == nullptr ? Reason::kMissingId : Reason::kIdKeyMismatch);
  }
  if (record_.key->empty()) {
    lacking_ = is_result_ && !failed();
    return refuse(Reason::kEmptyId);
  }
  if (record_.key->size() > kMaxIdBytes) return refuse(Reason::kIdTooLong);
  if (header != nullptr) check_repeated_id();
}

inline void RecordReader::check_partition() {
  if (failed() || context_.partitioner == Partitioner::kUnchecked) return;
  if (partition_of(id_, context_.partitioner, context_.partitions) != record_.partition) refuse(Reason::kMisrouted);
}

inline Sequence RecordReader::sequence() {
  const Header* header = found_.has(HeaderKind::kSeq) ? found_.find(HeaderKind::kSeq) : stand_in_;
  if (header == nullptr) {
    lacking_ = lacking_ || (is_result_ && !failed());
    refuse(Reason::kMissingSequence);
    return {};
  }
  if (!header->value) {
    refuse(Reason::kMalformedHeader);
    return {};
  }
  const auto parsed = parse_sequence(context_.sequence_kind, *header->value);
  if (!parsed) refuse(Reason::kMalformedSequence);
  return parsed.value_or(Sequence());
}

inline Op RecordReader::op(bool payload_says) {
  const bool is_null = payload_says && !record_.payload;
  const auto name = text(HeaderKind::kOp);
  if (!name && is_null && !context_.explicit_deletes) return Op::kDelete;
  if (name == "delete") return Op::kDelete;
  if (name && name != "upsert")
    refuse(Reason::kMalformedHeader);
  else if (is_null)
    refuse(Reason::kOpPayloadConflict);
  return Op::kUpsert;
}

inline bool RecordReader::flag(HeaderKind kind) {
  const auto value = text(kind);
  if (!value || *value == "false") return false;
  if (*value != "true") refuse(Reason::kMalformedHeader);
  return true;
}

}  // namespace reseq::codec
