// Change: what one record says about one document, read from the headers of `output.<target>`, or of `commands` when a
// sink runs without its check.
// Thread rule: plain values; views point into the record.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "model/command.h"
#include "model/header.h"
#include "model/ids.h"

namespace reseq::sink {

// kVersions: only a strictly newer `reseq-version` is written. kOff: the last write wins, as in a sink that knows
// nothing of order; it exists to show what the check is worth.
enum class Check : unsigned char { kVersions, kOff };

// What a target shall hold of a document. kFailed: it was given up, and a marker stands for it (marker.h).
enum class ChangeOp : unsigned char { kUpsert, kDelete, kFailed };

struct Change {
  std::string_view id{};
  std::optional<std::string_view> seq{};
  Version version{};  // 0 when the check is off
  ChangeOp op = ChangeOp::kUpsert;
  std::optional<std::string_view> payload{};  // set unless op is kDelete; of a marker its note
  std::optional<std::string_view> error{};    // of a marker: what was said, any bytes
};

// Not for this sink: another command or another target. Not an error.
struct NotForUs {};

// The record breaks the wire contract; static text says how.
struct Malformed {
  std::string_view why;
};

using Reading = std::variant<Change, NotForUs, Malformed>;

struct RecordView {
  std::optional<std::string_view> key{};
  std::optional<std::string_view> payload{};
  std::span<const Header> headers;
};

// `target`: only meaningful with Check::kOff, where `commands` carries the results of all targets; empty = any.
[[nodiscard]] Reading read_change(const RecordView& record, Check check, std::string_view target);

}  // namespace reseq::sink
