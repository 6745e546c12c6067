#include "producers/tagging/tagger.h"

#include "codec/sequence_text.h"
#include "codec/target_names.h"
#include "codec/timestamp_text.h"
#include "model/target.h"

namespace reseq::tagging {
namespace {

Error refused(std::string why) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = std::move(why)};
}

Result<std::string> sequence_text(const std::variant<std::uint64_t, std::string>& sequence, SequenceKind kind) {
  const auto* number = std::get_if<std::uint64_t>(&sequence);
  // The decimal digits of a number do not sort as it does, so that `text` must be given as text.
  if (number != nullptr && kind == SequenceKind::kText) return refused("a number is no sequence of kind text");
  std::string text = number != nullptr ? std::to_string(*number) : std::get<std::string>(sequence);
  if (!codec::parse_sequence(kind, text).has_value())
    return refused("the sequence does not parse as kind " + std::string(codec::name_of(kind)));
  return text;
}

Result<std::string> target_list(const std::vector<std::string>& targets) {
  if (targets.size() > kMaxTargets) return refused("more than 64 targets");
  std::string list;
  for (const std::string& name : targets) {
    if (!codec::is_target_name(name))
      return refused("a target name has 1 to 100 letters, digits, '.', '_' and '-', this one has not: " +
                     name.substr(0, 100));
    if (!list.empty()) list += ',';
    list += name;
  }
  return list;
}

const std::string& either(const std::string& said, const std::string& usual) {
  return said.empty() ? usual : said;
}

Result<> add_date(const char* name, const std::string& date, std::int64_t least, TaggedRecord& record) {
  if (date.empty()) return Done{};
  if (const auto ms = codec::parse_date_ms(date); !ms || *ms < least)
    return refused("a date is milliseconds since 1970 or RFC 3339 with a zone, until 2262, this one is not: " +
                   date.substr(0, 100));
  record.headers.push_back({name, date});
  return Done{};
}

Result<> add_turn(const Change& change, const Turn& usual, TaggedRecord& record) {
  const bool deletes = change.op == Op::kDelete;
  if (deletes && !change.turn.expires_at.empty()) return refused("a delete does not expire");
  if (const auto priority = change.turn.priority ? change.turn.priority : usual.priority)
    record.headers.push_back({"reseq-priority", std::to_string(*priority)});
  if (auto added = add_date("reseq-process-at", either(change.turn.process_at, usual.process_at), 0, record); !added)
    return added;
  if (deletes) return Done{};
  return add_date("reseq-expires-at", either(change.turn.expires_at, usual.expires_at), 1, record);
}

}  // namespace

Result<TaggedRecord> Tagger::tag(const Change& change) const {
  if (change.id.empty()) return refused("the id is empty");
  if (change.id.size() > kMaxIdBytes)
    return refused("the id has " + std::to_string(change.id.size()) + " bytes, at most 4096 are allowed");
  if (change.op == Op::kUpsert && !change.payload.has_value()) return refused("an upsert without a payload");
  Result<std::string> sequence = sequence_text(change.sequence, kind_);
  if (!sequence.ok()) return sequence.error();
  Result<std::string> targets = target_list(change.targets);
  if (!targets.ok()) return targets.error();

  TaggedRecord record;
  record.key = change.id;
  if (change.payload.has_value()) record.payload = *change.payload;
  record.headers.push_back({"reseq-seq", std::move(sequence).value()});
  // A null payload says delete by itself with intake inline only.
  if (change.op == Op::kDelete) record.headers.push_back({"reseq-op", "delete"});
  if (!targets.value().empty()) record.headers.push_back({"reseq-targets", std::move(targets).value()});
  if (change.epoch.has_value()) record.headers.push_back({"reseq-epoch", std::to_string(change.epoch->value())});
  if (auto added = add_turn(change, usual_, record); !added) return added.error();
  return record;
}

}  // namespace reseq::tagging
