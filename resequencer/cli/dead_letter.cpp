#include "cli/dead_letter.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <utility>

#include "admin/json_text.h"
#include "base/log.h"
#include "cli/progress.h"
#include "codec/dead_letter.h"
#include "codec/header_names.h"
#include "runtime/application/clients.h"
#include "runtime/application/clock.h"
#include "runtime/application/log_reading.h"

namespace reseq::cli {

namespace {

using admin::Json;
using runtime::LogReading;

bool fits(const DeadLetter& letter, const LetterFilter& filter, UnixMs now) {
  if (!filter.reason.empty() && letter.text(codec::header::kReason) != filter.reason) return false;
  if (!filter.id_prefix.empty() && !letter.key.value_or("").starts_with(filter.id_prefix)) return false;
  return filter.since == Milliseconds(0) || now.value() - letter.at.value() <= filter.since.value();
}

}  // namespace

std::optional<LetterPlace> parse_place(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::int32_t partition = -1;
  std::int64_t offset = -1;
  const char* const middle = text.data() + colon;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), middle, partition);
  const auto second = std::from_chars(middle + 1, end, offset);
  if (first.ec != std::errc() || first.ptr != middle || second.ec != std::errc() || second.ptr != end)
    return std::nullopt;
  if (partition < 0 || offset < 0) return std::nullopt;
  return LetterPlace{Partition(partition), Offset(offset)};
}

std::string text_of(const LetterPlace& place) {
  return std::to_string(place.partition.value()) + ":" + std::to_string(place.offset.value());
}

std::string DeadLetter::text(std::string_view name) const {
  const auto found =
      std::find_if(headers.rbegin(), headers.rend(), [&](const auto& each) { return each.first == name; });
  return found == headers.rend() ? std::string() : found->second.value_or("");
}

std::optional<std::string> DeadLetter::left_out() const {
  namespace header = codec::header;
  for (const auto name : {header::kPayloadOmitted, header::kHeadersOmitted, header::kKeyOmitted})
    if (has(name)) return std::string(name);
  return std::nullopt;
}

std::optional<std::int32_t> DeadLetter::source_partition() const {
  const std::string digits = text(codec::header::kSourcePartition);
  std::int32_t number = -1;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return parsed.ec == std::errc() && number >= 0 ? std::optional(number) : std::nullopt;
}

bool DeadLetter::has(std::string_view name) const {
  return std::any_of(headers.begin(), headers.end(), [&](const auto& each) { return each.first == name; });
}

UnixMs DeadLetter::first_written() const {
  const auto said = codec::parse_first_written(text(codec::header::kFirstWritten));
  return said ? std::min(*said, at) : at;
}

std::vector<OwnedHeader> DeadLetter::input_headers() const {
  std::vector<OwnedHeader> kept;
  std::copy_if(headers.begin(), headers.end(), std::back_inserter(kept),
               [](const OwnedHeader& each) { return !codec::is_added_to_dead_letters(each.first); });
  return kept;
}

DeadLetter dead_letter_of(const kafka::Record& record) {
  DeadLetter letter;
  letter.place = {record.where.partition, record.offset};
  letter.at = record.timestamp;
  if (record.key) letter.key = std::string(*record.key);
  if (record.payload) letter.payload = std::string(*record.payload);
  for (const Header& header : record.headers)
    letter.headers.emplace_back(header.name, header.value ? std::optional(std::string(*header.value)) : std::nullopt);
  return letter;
}

Result<DeadLetter> read_dead_letter(const runtime::Application& application, const LetterPlace& place) {
  auto log = LogReading::open(application, application.settings.topic_dead_letter);
  if (!log) return runtime::with_fix(log.error(), application.settings);
  DeadLetter letter;
  const auto read = log.value().read_one(place.partition, place.offset,
                                         [&](const kafka::Record& record) { letter = dead_letter_of(record); });
  if (!read) return read.error();
  return letter;
}

Result<FoundLetters> find_letters(const runtime::Application& application, const LetterFilter& filter) {
  auto log = LogReading::open(application, application.settings.topic_dead_letter);
  if (!log) return runtime::with_fix(log.error(), application.settings);
  const UnixMs now = runtime::SystemClock().now();
  const auto enough = static_cast<std::size_t>(filter.letters_max);
  FoundLetters found;
  const runtime::GoOn progress = progress_of(application.settings.topic_dead_letter);
  for (std::int32_t p = 0; p < log.value().partitions(); ++p) {
    std::deque<DeadLetter> newest;
    const auto visit = [&](const kafka::Record& record) {
      DeadLetter letter = dead_letter_of(record);
      if (!fits(letter, filter, now)) return;
      found.counts.add(letter.text(codec::header::kReason), letter.at);
      newest.push_back(std::move(letter));
      if (newest.size() > enough) newest.pop_front(), ++found.others;
    };
    const auto read = log.value().read(Partition(p), visit, progress);
    if (!read) return read.error();
    std::move(newest.begin(), newest.end(), std::back_inserter(found.letters));
  }
  std::stable_sort(found.letters.begin(), found.letters.end(),
                   [](const DeadLetter& a, const DeadLetter& b) { return a.at < b.at; });
  if (found.letters.size() > enough) {
    const std::size_t more = found.letters.size() - enough;
    found.letters.erase(found.letters.begin(), found.letters.begin() + static_cast<std::ptrdiff_t>(more));
    found.others += more;
  }
  return found;
}

std::string id_text(const DeadLetter& letter) {
  return letter.key ? log::one_line(*letter.key) : std::string("(no key)");
}

std::string source_text(const DeadLetter& letter) {
  namespace header = codec::header;
  return letter.text(header::kSourceTopic) + "[" + letter.text(header::kSourcePartition) + "]@" +
         letter.text(header::kSourceOffset);
}

Json json_of(const DeadLetter& letter) {
  Json object = {{"place", text_of(letter.place)},
                 {"time", admin::time_text(letter.at)},
                 {"first_written", admin::time_text(letter.first_written())},
                 {"reason", letter.text(codec::header::kReason)},
                 {"source", source_text(letter)}};
  if (letter.key) admin::set_bytes(object, "id", *letter.key);
  return object;
}

}  // namespace reseq::cli
