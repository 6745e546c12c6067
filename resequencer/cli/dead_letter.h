// A dead letter, as it lies in its topic, and those that fit a filter.
// Thread rule: main thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admin/document_json.h"
#include "kafka/cluster.h"
#include "runtime/application/application.h"
#include "runtime/application/letters.h"

namespace reseq::cli {

// Where a dead letter lies: PARTITION:OFFSET of the dead-letter topic.
struct LetterPlace {
  Partition partition;
  Offset offset;
};
[[nodiscard]] std::optional<LetterPlace> parse_place(std::string_view text);
[[nodiscard]] std::string text_of(const LetterPlace& place);

using OwnedHeader = std::pair<std::string, std::optional<std::string>>;

struct DeadLetter {
  LetterPlace place;
  UnixMs at;  // of the batch that wrote it
  std::optional<std::string> key;
  std::optional<std::string> payload;
  std::vector<OwnedHeader> headers;

  // Of the last header of this name; empty when there is none.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  // The header that says that a part of the input was left out; nothing when it is whole.
  [[nodiscard]] std::optional<std::string> left_out() const;
  // Of the input; nothing when it does not say.
  [[nodiscard]] std::optional<std::int32_t> source_partition() const;
  // When the input of the first letter was written: it may have become a letter more than once. By the letter itself if
  // it does not say so.
  [[nodiscard]] UnixMs first_written() const;
  // The record as it was: without what a dead letter adds.
  [[nodiscard]] std::vector<OwnedHeader> input_headers() const;
};
[[nodiscard]] DeadLetter dead_letter_of(const kafka::Record& record);
// kInvalid: there is none.
[[nodiscard]] Result<DeadLetter> read_dead_letter(const runtime::Application& application, const LetterPlace& place);

struct LetterFilter {
  std::string reason;     // empty: any
  std::string id_prefix;  // empty: any
  Milliseconds since{0};  // written within it; 0 = does not matter
  std::int64_t letters_max = 100;
};

struct FoundLetters {
  std::vector<DeadLetter> letters;  // the newest that fit, oldest first
  std::size_t others = 0;           // that fit and are older
  runtime::LetterCounts counts;     // of all that fit
};

[[nodiscard]] Result<FoundLetters> find_letters(const runtime::Application& application, const LetterFilter& filter);

// For people: its key, and TOPIC[PARTITION]@OFFSET of its input.
[[nodiscard]] std::string id_text(const DeadLetter& letter);
[[nodiscard]] std::string source_text(const DeadLetter& letter);
// {"place", "time", "first_written", "reason", "source", "id"}
[[nodiscard]] admin::Json json_of(const DeadLetter& letter);

}  // namespace reseq::cli
