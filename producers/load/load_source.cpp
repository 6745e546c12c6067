#include "producers/load/load_source.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "producers/sending/fingerprint.h"

namespace reseq::load {
namespace {

constexpr std::size_t kRecent = 4096;
constexpr std::uint64_t kSequenceGapMax = 3;
constexpr std::size_t kPrefixBytesMax = 1000;
// 2020-01-01T00:00:00Z, so that sequences of kind timestamp look like times.
constexpr std::uint64_t kTimestampBase = 1577836800000000000U;

Error invalid(std::string message) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = std::move(message)};
}

}  // namespace

Result<std::unique_ptr<LoadSource>> LoadSource::open(LoadOptions options) {
  if (options.documents == 0 || options.documents > kDocumentsMax) return invalid("documents: 1 to 2^32");
  if (options.updates > kUpdatesMax) return invalid("updates: 0 to 2^24");
  if (options.delete_percent > 100 || options.hot_percent > 100 || options.duplicate_percent > 100)
    return invalid("a percentage is at most 100");
  if (options.payload_bytes_min > options.payload_bytes_max || options.payload_bytes_max > kPayloadBytesMax)
    return invalid("payload bytes: MIN-MAX with MIN <= MAX <= 64 MiB");
  const std::string& prefix = options.id_prefix;
  if (prefix.size() > kPrefixBytesMax ||
      std::any_of(prefix.begin(), prefix.end(), [](char c) { return c < ' ' || c > '~'; }))
    return invalid("the prefix of ids has at most 1000 printable ASCII characters");
  return std::unique_ptr<LoadSource>(new LoadSource(std::move(options)));
}

LoadSource::LoadSource(LoadOptions options) : options_(std::move(options)), random_(options_.seed) {
  const std::uint64_t requests = options_.documents * (1 + options_.updates);
  duplicates_left_ = requests / 100 * options_.duplicate_percent + requests % 100 * options_.duplicate_percent / 100;
  items_ = requests + duplicates_left_;
  recent_.reserve(kRecent);
}

std::string LoadSource::stream() const {
  std::string name = "load seed=" + std::to_string(options_.seed);
  const auto add = [&name](std::string_view option, std::uint64_t value) {
    name.append(" ").append(option).append("=").append(std::to_string(value));
  };
  add("documents", options_.documents);
  add("updates", options_.updates);
  add("deletes", options_.delete_percent);
  add("hot", options_.hot_percent);
  add("duplicates", options_.duplicate_percent);
  add("payload_min", options_.payload_bytes_min);
  add("payload_max", options_.payload_bytes_max);
  add("kind", static_cast<std::uint64_t>(options_.sequence_kind));
  if (options_.epoch.has_value()) add("epoch", options_.epoch->value());
  for (const std::string& target : options_.targets) name += " target=" + target;
  return name + " prefix=" + options_.id_prefix;
}

Result<> LoadSource::resume_after(const sending::Mark& mark) {
  if (mark.position > items_) return invalid("the state file is ahead of the stream: use another state file");
  while (position_ < mark.position) {
    (void)next_request();
    ++position_;
  }
  begun_at_ = position_;
  return Done{};
}

Result<std::optional<sending::Item>> LoadSource::next() {
  if (position_ == items_) return std::optional<sending::Item>();
  const Request request = next_request();
  ++position_;
  tagging::Change change{.id = id_of(request.document),
                         .sequence = sequence_text(request.sequence),
                         .op = request.deleted ? Op::kDelete : Op::kUpsert,
                         .payload = std::nullopt,
                         .targets = options_.targets,
                         .epoch = options_.epoch};
  if (!request.deleted) change.payload = payload_of(request.document, request.sequence);
  return std::optional(sending::Item(std::move(change)));
}

// What is left to create and to repeat is spread evenly over what is left to send, so that both come out exactly.
LoadSource::Request LoadSource::next_request() {
  const std::uint64_t left = items_ - position_;
  if (!recent_.empty() && random_.below(left) < duplicates_left_) {
    --duplicates_left_;
    return recent_[random_.below(recent_.size())];
  }
  const std::uint64_t to_create = options_.documents - documents_.size();
  const bool create = documents_.empty() || random_.below(left - duplicates_left_) < to_create;
  if (create) documents_.emplace_back();
  const std::uint64_t number = create ? documents_.size() - 1 : choose_document();
  Document& document = documents_[number];
  document.sequence += 1 + random_.below(kSequenceGapMax);
  document.deleted = !create && random_.below(100) < options_.delete_percent;

  const Request request{.document = number, .sequence = document.sequence, .deleted = document.deleted};
  if (recent_.size() < kRecent) {
    recent_.push_back(request);
  } else {
    recent_[random_.below(kRecent)] = request;
  }
  return request;
}

std::uint64_t LoadSource::choose_document() {
  const std::uint64_t all = documents_.size();
  if (random_.below(100) >= options_.hot_percent) return random_.below(all);
  const std::uint64_t hot = std::max<std::uint64_t>(1, options_.documents / 100);
  return random_.below(std::min(all, hot));
}

std::string LoadSource::payload_of(std::uint64_t document, std::uint64_t sequence) const {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789";
  static_assert(kLetters.size() == 64);
  Random random(options_.seed ^ (document * 0xD6E8FEB86659FD93U) ^ (sequence << 40));
  const std::uint32_t span = options_.payload_bytes_max - options_.payload_bytes_min;
  std::string payload(options_.payload_bytes_min + random.below(std::uint64_t{span} + 1), ' ');
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < payload.size(); ++i, bits >>= 6) {
    if (i % 10 == 0) bits = random.next();
    payload[i] = kLetters[bits & 63];
  }
  return payload;
}

std::string LoadSource::sequence_text(std::uint64_t sequence) const {
  char text[32];
  const auto number = static_cast<unsigned long long>(sequence);
  switch (options_.sequence_kind) {
    case SequenceKind::kU64:
      return std::to_string(sequence);
    case SequenceKind::kTimestamp:
      return std::to_string(kTimestampBase + sequence * 1000000);
    case SequenceKind::kLsn:
      std::snprintf(text, sizeof text, "%llX/%llX", number >> 4, (number & 15) << 28);
      return text;
    case SequenceKind::kText:
      break;
  }
  std::snprintf(text, sizeof text, "%020llu", number);
  return text;
}

std::string LoadSource::id_of(std::uint64_t document) const {
  return options_.id_prefix + std::to_string(document);
}

FinalState LoadSource::final_state(std::uint64_t document) const {
  RESEQ_ASSERT(position_ == items_ && document < documents_.size(), "the end of a stream that was not read");
  const Document& last = documents_[document];
  return {.id = id_of(document),
          .sequence = sequence_text(last.sequence),
          .deleted = last.deleted,
          .payload = last.deleted ? std::string() : payload_of(document, last.sequence)};
}

std::string oracle_line(const FinalState& state) {
  nlohmann::ordered_json json;
  json["id"] = state.id;
  json["seq"] = state.sequence;
  json["deleted"] = state.deleted;
  json["payload_bytes"] = state.payload.size();
  json["payload_xxh3"] = sending::fingerprint(state.payload);
  return json.dump();
}

}  // namespace reseq::load
