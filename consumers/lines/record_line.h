// Records as lines of JSON, with the words of producers/ndjson: what a command of reseq-stage reads, and what
// reseq-sink-ndjson prints (docs/shell-pipelines.md).
//
// Ids, sequences, header values and payloads are any bytes: what is not UTF-8 stands as base64 in a member of its own,
// `id_base64` in place of `id`. Of a header that comes twice the last one counts.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/header.h"
#include "model/ids.h"

namespace reseq::lines {

enum class PayloadForm : std::uint8_t {
  kAuto,    // JSON objects and arrays as they are, other UTF-8 as text, everything else as base64
  kText,    // UTF-8 as text, everything else as base64
  kBase64,  // always base64
};

// By the word of an option: "auto", "text" or "base64". REQUIRES: one of them.
[[nodiscard]] PayloadForm payload_form_of(std::string_view word);

struct RecordView {
  std::optional<std::string_view> key;
  std::optional<std::string_view> payload;  // absent = null
  std::span<const Header> headers;
};

// One line, with its end. `targets`: those that an answer may name.
[[nodiscard]] std::string work_line(std::string_view ticket, const RecordView& record,
                                    std::span<const std::string> targets, PayloadForm form);
[[nodiscard]] std::string output_line(const RecordView& record, Partition partition, Offset offset, PayloadForm form);

// The last value of that name; nothing when there is none. A null value reads as an empty one.
[[nodiscard]] std::optional<std::string_view> last_value(std::span<const Header> headers, std::string_view name);

}  // namespace reseq::lines
