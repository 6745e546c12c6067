#include "consumers/sink/change.h"

#include <charconv>

namespace reseq::sink {
namespace {

// Of a doubled header the last one counts. Outer empty: absent; a null value reads as an empty one.
std::optional<std::string_view> header(std::span<const Header> headers, std::string_view name) {
  for (auto found = headers.rbegin(); found != headers.rend(); ++found)
    if (found->name == name) return found->value.value_or(std::string_view());
  return std::nullopt;
}

// Empty: no op that is known. Only what the resequencer has released can be a marker.
std::optional<ChangeOp> op_of(const RecordView& record, Check check) {
  const auto op = header(record.headers, "reseq-op");
  if (!op) return record.payload ? ChangeOp::kUpsert : ChangeOp::kDelete;
  if (*op == "upsert") return ChangeOp::kUpsert;
  if (*op == "delete") return ChangeOp::kDelete;
  if (*op == "failed" && check == Check::kVersions) return ChangeOp::kFailed;
  return std::nullopt;
}

// Decimal, 0 < v < 2^63.
std::optional<Version> parse_version(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end || number == 0 || number >= kVersionLimit) return std::nullopt;
  return Version(number);
}

}  // namespace

Reading read_change(const RecordView& record, Check check, std::string_view target) {
  if (check == Check::kOff) {
    if (header(record.headers, "reseq-command") != "sequence") return NotForUs{};
    const auto its_target = header(record.headers, "reseq-target");
    if (!target.empty() && its_target && *its_target != target) return NotForUs{};
  }
  Change change;
  const auto id = header(record.headers, "reseq-id");
  if (!id && !record.key) return Malformed{"neither key nor reseq-id"};
  change.id = id ? *id : *record.key;
  if (change.id.empty()) return Malformed{"empty id"};
  if (change.id.size() > kMaxIdBytes) return Malformed{"id longer than 4096 bytes"};
  change.seq = header(record.headers, "reseq-seq");

  const auto op = op_of(record, check);
  if (!op) return Malformed{"reseq-op is neither upsert nor delete"};
  change.op = *op;
  if (change.op == ChangeOp::kUpsert && !record.payload) return Malformed{"upsert with a null payload"};
  if (change.op == ChangeOp::kFailed && !record.payload) return Malformed{"failed with a null payload"};
  if (change.op != ChangeOp::kDelete) change.payload = record.payload;
  if (change.op == ChangeOp::kFailed) change.error = header(record.headers, "reseq-error");

  if (check == Check::kOff) return change;
  const auto version = header(record.headers, "reseq-version");
  if (!version) return Malformed{"no reseq-version"};
  const auto number = parse_version(*version);
  if (!number) return Malformed{"reseq-version is not a number between 1 and 2^63 - 1"};
  change.version = *number;
  return change;
}

}  // namespace reseq::sink
