#include "runtime/application/letters.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "codec/decimal.h"
#include "codec/hash.h"
#include "codec/header_names.h"
#include "model/reason.h"

namespace reseq::runtime {

namespace {

using SurveyClock = std::chrono::steady_clock;

constexpr std::int64_t kFirstPiece = 1'000;
constexpr std::int64_t kSurveyedMax = 20'000;

std::string header_text(const kafka::Record& record, std::string_view name) {
  const Header* header = codec::find_header({record.headers.data(), record.headers.size()}, name);
  return header != nullptr && header->value ? std::string(*header->value) : std::string();
}

}  // namespace

void LetterCounts::add(const std::string& reason, UnixMs written) {
  ReasonCount& count = by_reason_[reason];
  count.oldest = count.letters == 0 ? written : std::min(count.oldest, written);
  count.newest = std::max(count.newest, written);
  ++count.letters;
}

admin::Json LetterCounts::json() const {
  std::vector<std::pair<std::string, ReasonCount>> sorted(by_reason_.begin(), by_reason_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& one, const auto& other) { return one.second.letters > other.second.letters; });
  admin::Json all = admin::Json::array();
  for (const auto& [reason, count] : sorted)
    all.push_back({{"reason", reason},
                   {"letters", count.letters},
                   {"oldest", admin::time_text(count.oldest)},
                   {"newest", admin::time_text(count.newest)}});
  return all;
}

Result<LetterSurvey> survey_letters(const Application& application, Milliseconds time_max,
                                    const std::atomic<bool>& stop) {
  auto log = LogReading::open(application, application.settings.topic_dead_letter);
  if (!log) return log.error();
  LetterSurvey survey;
  const std::int32_t partitions = log.value().partitions();
  const auto until = SurveyClock::now() + std::chrono::milliseconds(time_max.value());
  const auto go_on = [&](Partition, Offset, Offset) { return !stop && SurveyClock::now() < until; };
  const auto visit = [&](const kafka::Record& record) {
    survey.counts.add(header_text(record, codec::header::kReason), record.timestamp);
  };
  std::vector<LogReading::Bounds> left;
  for (std::int32_t p = 0; p < partitions && go_on(Partition(p), {}, {}); ++p) {
    const auto bounds = log.value().bounds(Partition(p));
    if (!bounds) return bounds.error();
    left.push_back(bounds.value());
  }
  survey.whole = left.size() == static_cast<std::size_t>(partitions);
  // The newest of every partition come before older ones of any.
  for (std::int64_t offsets = kFirstPiece, read = 0; read < kSurveyedMax;
       read += offsets, offsets = kSurveyedMax - read) {
    for (std::size_t p = 0; p < left.size() && go_on({}, {}, {}); ++p) {
      const Offset from(std::max(left[p].begin.value(), left[p].end.value() - offsets));
      const Partition partition(static_cast<std::int32_t>(p));
      const auto piece = log.value().read_range(partition, {from, left[p].end}, visit, go_on);
      if (!piece) return piece.error();
      survey.whole = survey.whole && piece.value();
      left[p].end = from;
    }
  }
  survey.whole =
      survey.whole && std::all_of(left.begin(), left.end(), [](const auto& one) { return one.begin == one.end; });
  return survey;
}

std::optional<Misplaced> misplaced(std::string_view key, Partition at, Partitioner partitioner,
                                   std::int32_t partitions) {
  if (partitioner == Partitioner::kUnchecked || partitions <= 0) return std::nullopt;
  Misplaced found{codec::partition_of(key, partitioner, partitions), std::nullopt};
  if (found.belongs_to == at) return std::nullopt;
  const Partitioner other = partitioner == Partitioner::kCrc32 ? Partitioner::kMurmur2 : Partitioner::kCrc32;
  if (codec::partition_of(key, other, partitions) == at) found.placed_by = other;
  return found;
}

std::string fix_of(const Misplaced& misplaced, Partitioner partitioner) {
  const bool murmur2 = partitioner == Partitioner::kMurmur2;
  const std::string set = murmur2 ? "partitioner=murmur2_random in clients of librdkafka, and nothing in Java's"
                                  : "partitioner=consistent_random";
  const std::string who =
      misplaced.placed_by
          ? std::string("it lay where ") + (murmur2 ? "crc32" : "murmur2") + " puts it: the client that wrote it needs "
          : std::string(
                "no partitioner puts it where it lay: the client that wrote it must not name partitions, and needs ");
  return who + set + "; then `dead-letter redrive` writes it to its partition";
}

PastLetter letter_of(const kafka::Record& record) {
  PastLetter letter;
  letter.place = std::to_string(record.where.partition.value()) + ":" + std::to_string(record.offset.value());
  letter.at = record.timestamp;
  letter.reason = header_text(record, codec::header::kReason);
  const std::string partition = header_text(record, codec::header::kSourcePartition);
  letter.source = header_text(record, codec::header::kSourceTopic) + "[" + partition + "]@" +
                  header_text(record, codec::header::kSourceOffset);
  const auto number = codec::parse_decimal<std::uint32_t>(partition);
  // Operations name their partition, whatever the key.
  const bool by_key =
      codec::find_header({record.headers.data(), record.headers.size()}, codec::header::kControl) == nullptr;
  if (by_key && number && *number <= INT32_MAX) letter.source_partition = Partition(static_cast<std::int32_t>(*number));
  return letter;
}

Result<LetterHistory> read_letters_of(const Application& application, const std::string& id, std::size_t letters_max,
                                      Milliseconds time_max, const GoOn& go_on) {
  LetterHistory found;
  std::deque<PastLetter> piece;
  std::int64_t others_of_piece = 0;
  const auto visit = [&](const kafka::Record& record) {
    piece.push_front(letter_of(record));
    if (piece.size() > letters_max) piece.pop_back(), ++others_of_piece;
  };
  const auto enough = [&] {
    for (PastLetter& letter : piece) {
      if (found.letters.size() < letters_max)
        found.letters.push_back(std::move(letter));
      else
        ++found.others;
    }
    piece.clear();
    found.others += std::exchange(others_of_piece, std::int64_t{0});
    return found.others > 0;
  };
  auto unread = read_newest_first(application, application.settings.topic_dead_letter, id,
                                  {kLettersAnyway, visit, enough, go_on}, time_max);
  if (!unread) return unread.error();
  found.unread = unread.value();
  return found;
}

admin::Json letter_json(const PastLetter& letter, std::string_view id, Partitioner partitioner,
                        std::int32_t partitions) {
  admin::Json json = {{"place", letter.place},
                      {"time", admin::time_text(letter.at)},
                      {"reason", letter.reason},
                      {"source", letter.source}};
  if (letter.reason != name_of(Reason::kMisrouted) || !letter.source_partition) return json;
  const auto found = misplaced(id, *letter.source_partition, partitioner, partitions);
  if (!found) return json;
  json["belongs_to"] = found->belongs_to.value();
  json["fix"] = fix_of(*found, partitioner);
  return json;
}

}  // namespace reseq::runtime
