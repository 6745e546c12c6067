// DeadLetters: records that cannot be stored, written to a topic as they came, with what is wrong and where they came
// from in their headers (schemas/wire.md). A letter always fits its topic: first the payload is left out, then the
// headers, with their size told.
// Invariant: what write() answered well is acknowledged by the brokers.
// Thread rule: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "consumers/remote/load.h"
#include "kafka/plain_producer.h"
#include "kafka/settings.h"

namespace reseq::remote {

// Beside those of codec/header_names.h.
inline constexpr std::string_view kWordsHeader = "reseq-sink-words";
inline constexpr std::string_view kReasonMalformed = "malformed";
inline constexpr std::string_view kReasonRefused = "refused_by_server";
inline constexpr std::size_t kWordsMax = 2'000;

// A letter as it is sent. Views point into the letter and its record.
struct LetterRecord {
  std::optional<std::string_view> key;
  std::optional<std::string_view> payload;
  std::vector<Header> headers;
  std::vector<std::string> numbers;  // what some of the headers point into
};

// `bytes_max`: of the topic.
[[nodiscard]] std::unique_ptr<LetterRecord> letter_record(const Letter& letter, std::uint64_t bytes_max);

class DeadLetters {
 public:
  // An empty topic: letters are only logged.
  // `queue_max`: letters that are on their way at once.
  DeadLetters(kafka::Connection connection, std::string topic, std::uint64_t bytes_max,
              std::uint32_t queue_max = 10'000)
      : connection_(std::move(connection)), topic_(std::move(topic)), bytes_max_(bytes_max), queue_max_(queue_max) {}
  virtual ~DeadLetters() = default;
  DeadLetters(const DeadLetters&) = delete;
  DeadLetters& operator=(const DeadLetters&) = delete;

  // Waits until the brokers have all of them. An error: perhaps some are there; write all again after a pause.
  virtual Result<> write(std::span<const Letter> letters);
  // The program ends, for good: whoever waits for an acknowledgement, now or later, gives up, and its letters are not
  // written.
  void interrupt() { interrupted_ = true; }

 private:
  Result<> send(std::span<const Letter> letters);
  Result<> enqueue(const LetterRecord& record, Clock::time_point until);

  const kafka::Connection connection_;
  const std::string topic_;
  const std::uint64_t bytes_max_;
  const std::uint32_t queue_max_;
  std::mutex mutex_;
  std::unique_ptr<kafka::PlainProducer> producer_;  // none before the first letter
  std::uint64_t logged_ = 0;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace reseq::remote
