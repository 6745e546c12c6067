#include "consumers/remote/dead_letters.h"

#include <algorithm>
#include <array>
#include <spdlog/spdlog.h>
#include <utility>

#include "base/log.h"
#include "codec/dead_letter.h"
#include "codec/header_names.h"
#include "codec/record_size.h"

namespace reseq::remote {
namespace {

constexpr Milliseconds kFlushLimit{30'000};
constexpr Milliseconds kFlushStep{200};  // how late an interruption is heard
constexpr std::uint64_t kLogged = 20;    // the topic has all of them

std::string_view cut(std::string_view words) {
  return words.substr(0, kWordsMax);
}

bool fits(const LetterRecord& record, std::uint64_t bytes_max) {
  return codec::record_bytes_max(record.key ? record.key->size() : 0, record.payload ? record.payload->size() : 0,
                                 record.headers) <= bytes_max;
}

void add_number(LetterRecord& record, std::string_view name, std::int64_t number) {
  record.headers.push_back({name, record.numbers.emplace_back(std::to_string(number))});
}

void add_reason(LetterRecord& record, const Letter& letter) {
  namespace header = codec::header;
  record.headers.push_back({header::kReason, letter.malformed ? kReasonMalformed : kReasonRefused});
  record.headers.push_back({kWordsHeader, cut(letter.words)});
  record.headers.push_back({header::kSourceTopic, letter.record->topic});
  add_number(record, header::kSourcePartition, letter.record->partition.value());
  add_number(record, header::kSourceOffset, letter.record->offset.value());
  if (letter.record->timestamp > UnixMs()) add_number(record, header::kFirstWritten, letter.record->timestamp.value());
}

Error program_ends() {
  return {ErrorClass::kRetriable, 0, "the program ends"};
}

}  // namespace

std::unique_ptr<LetterRecord> letter_record(const Letter& letter, std::uint64_t bytes_max) {
  auto record = std::make_unique<LetterRecord>();
  record->numbers.reserve(8);  // headers point into them
  record->key = letter.record->key;
  record->payload = letter.record->payload;
  for (const Header& header : letter.record->headers)
    if (!codec::is_added_to_dead_letters(header.name) && header.name != kWordsHeader) record->headers.push_back(header);
  const std::size_t own = record->headers.size();
  add_reason(*record, letter);
  if (!fits(*record, bytes_max) && record->payload) {
    add_number(*record, codec::header::kPayloadOmitted, static_cast<std::int64_t>(record->payload->size()));
    record->payload.reset();
  }
  if (!fits(*record, bytes_max) && own > 0) {
    record->headers.erase(record->headers.begin(), record->headers.begin() + static_cast<std::ptrdiff_t>(own));
    add_number(*record, codec::header::kHeadersOmitted, static_cast<std::int64_t>(own));
  }
  if (!fits(*record, bytes_max) && record->key) {
    add_number(*record, codec::header::kKeyOmitted, static_cast<std::int64_t>(record->key->size()));
    record->key.reset();
  }
  return record;
}

Result<> DeadLetters::write(std::span<const Letter> letters) {
  const std::lock_guard lock(mutex_);
  if (interrupted_) return program_ends();
  for (const Letter& letter : letters)
    if (++logged_ <= kLogged)
      spdlog::error("record={} partition={} offset={} words={}", letter.malformed ? kReasonMalformed : kReasonRefused,
                    letter.record->partition.value(), letter.record->offset.value(), log::outside(letter.words));
  if (topic_.empty()) return Done{};
  if (producer_ == nullptr) {
    auto opened = kafka::PlainProducer::open(
        connection_, {.message_bytes_max = std::max<std::uint64_t>(20 * 1024 * 1024, bytes_max_),
                      .batch_bytes_max = std::min<std::uint64_t>(1'000'000, bytes_max_),
                      .queue_messages_max = queue_max_,
                      .delivery_timeout = kFlushLimit,
                      .queue_wait = Milliseconds(0)});
    if (!opened) return opened.error();
    producer_ = std::move(opened).value();
  }
  Result<> sent = send(letters);
  // After a failure it sends nothing more; what it still has is sent again.
  if (!sent) producer_.reset();
  return sent;
}

Result<> DeadLetters::send(std::span<const Letter> letters) {
  const auto until = Clock::now() + std::chrono::milliseconds(kFlushLimit.value());
  for (const Letter& letter : letters)
    if (Result<> queued = enqueue(*letter_record(letter, bytes_max_), until); !queued) return queued;
  while (true) {
    Result<> flushed = producer_->flush(kFlushStep);
    if (flushed || flushed.error().what_to_do != ErrorClass::kTimeout || Clock::now() >= until) return flushed;
    if (interrupted_) return program_ends();
  }
}

// Waits for room itself, because the producer would not hear the interruption.
Result<> DeadLetters::enqueue(const LetterRecord& record, Clock::time_point until) {
  while (true) {
    Result<> queued = producer_->send(topic_, record.key, record.payload, record.headers);
    if (queued || queued.error().what_to_do != ErrorClass::kRetriable || Clock::now() >= until) return queued;
    if (interrupted_) return program_ends();
    producer_->poll(kFlushStep);
  }
}

}  // namespace reseq::remote
