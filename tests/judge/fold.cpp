#include "tests/judge/fold.h"

#include <utility>
#include <variant>

#include "codec/keys.h"
#include "codec/row_kinds.h"
#include "codec/rows.h"

namespace reseq::judge {

namespace {

std::string told(const Summary& summary) {
  return std::to_string(summary.counts[Count::kLiveRows]) + " live rows, " +
         std::to_string(summary.counts[Count::kWatermarks]) + " watermarks, digest " +
         std::to_string(summary.digest.high) + ":" + std::to_string(summary.digest.low);
}

}  // namespace

std::string Fold::take(const Record& record) {
  position_ = Offset(record.offset.value() + 1);
  if (!record.key) return "a record without a key";
  const std::string_view key = *record.key;
  if (!hash_) {
    const auto identity = codec::decode_identity(key, record.payload.value_or(""));
    const auto* pinned = std::get_if<Identity>(&identity);
    if (key != codec::identity_key() || pinned == nullptr) return "the first record is not the identity";
    hash_.emplace(pinned->hash_key);
  }
  if (record.payload && !codec::is_intact(key, *record.payload)) return "a row that fails its checksum";
  if (key == codec::meta_key()) return take_meta(record);
  const codec::RowKind* const kind = codec::row_kind_of(key);
  if (kind == nullptr) return "a row of a kind that is not known";
  if (!record.payload && !kind->removable) return "the end of a row that is never removed";
  if (const auto old = rows_.find(key); old != rows_.end()) {
    count(key, old->second, false);
    rows_.erase(old);
  }
  if (!record.payload) return {};
  count(key, *record.payload, true);
  rows_.emplace(key, *record.payload);
  return {};
}

std::string Fold::take_meta(const Record& record) {
  auto decoded = codec::decode_meta(*record.key, record.payload.value_or(""));
  auto* meta = std::get_if<Meta>(&decoded);
  if (meta == nullptr) return "a meta row that cannot be read";
  meta_ = std::move(*meta);
  meta_bytes_ = *record.payload;
  if (meta_->summary == summary_) return {};
  return "the meta row says " + told(meta_->summary) + ", the rows are " + told(summary_);
}

void Fold::count(std::string_view key, std::string_view value, bool in) {
  const Digest one = hash_->of_record(key, value);
  summary_.digest = in ? codec::add(summary_.digest, one) : codec::subtract(summary_.digest, one);
  const codec::RowKind& kind = *codec::row_kind_of(key);
  const bool has_priorities = kind.type == codec::KeyType::kDocument && codec::has_journal(value);
  if (has_priorities && in) summary_.add(codec::priorities_of(value));
  if (has_priorities && !in) summary_.subtract(codec::priorities_of(value));
  if (in) {
    summary_.counts.add(kind.counted(value));
    if (kind.held) codec::count_held(key, 0, value.size(), summary_.counts);
  } else {
    summary_.counts.subtract(kind.counted(value));
    if (kind.held) codec::count_held(key, value.size(), 0, summary_.counts);
  }
}

}  // namespace reseq::judge
