// Dead letters from a terminal: which there are, one of them whole, and back to where it came from. A record that is
// sent again is an input like any other: it has to match, and order rules hold.
// Thread rule: main thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/ask.h"
#include "kafka/cluster.h"
#include "runtime/application.h"

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

// The newest that fit, oldest first.
Result<> list_dead_letters(const config::Settings& settings, const LetterFilter& filter, View view);
Result<> show_dead_letter(const config::Settings& settings, const LetterPlace& place, View view);
struct RedriveOptions {
  bool dry_run = false;
  bool old = false;  // also requests that were written watermark_retention_ms ago
  View view = View::kTable;
};
// Writes inputs again, as they came, to the topics that they came from: those named, or with no names all that fit.
// kInvalid: one of them cannot be sent again, and nothing is sent then: its payload was left out; it came from another
// topic; it would be refused again; it is a request that might undo newer ones, because those may be forgotten, or
// because it has no epoch and the default epoch was raised. kTimeout: not all are acknowledged, none is printed.
Result<> redrive(const config::Settings& settings, const std::vector<LetterPlace>& places, const LetterFilter& filter,
                 const RedriveOptions& options);

}  // namespace reseq::cli
