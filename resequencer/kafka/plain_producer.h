// PlainProducer: producer without transactions, idempotent unless told otherwise, for sources and pipelines. Keys
// choose the partition; a record without key goes anywhere. Bytes are copied.
// Invariant: after a record could not be delivered every send() and flush() fails: a stream with a gap does not go on.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kafka/settings.h"
#include "model/header.h"
#include "model/ids.h"

namespace reseq::kafka {

struct PlainProducerSettings {
  // Off: a record may arrive twice or behind a later one, and the first need not wait for a producer id, which a new
  // producer asks for half a second later when its first connection is not there yet.
  bool idempotent = true;
  std::string partitioner = "murmur2_random";  // librdkafka's word for what Java's clients do
  std::uint64_t message_bytes_max = 20 * 1024 * 1024;
  std::uint64_t batch_bytes_max = 1'000'000;  // of a produced batch: at most max.message.bytes of its topic
  std::uint32_t queue_messages_max = 200'000;
  std::uint64_t queue_bytes_max = 256 * 1024 * 1024;
  Milliseconds linger{5};
  // A record that was not acknowledged within this time has failed.
  Milliseconds delivery_timeout{120'000};
  // How long send() waits for room in the full queue. 0: it answers kRetriable at once.
  Milliseconds queue_wait{60'000};
};

class PlainProducer {
 public:
  // kInvalid: a setting is wrong. No connection is waited for.
  static Result<std::unique_ptr<PlainProducer>> open(const Connection& connection,
                                                     const PlainProducerSettings& settings = {});
  virtual ~PlainProducer() = default;  // what was not flushed is lost

  // Queues a record. Absent payload = null. Timestamp: now, unless given. Partition: by the key, unless given.
  // kRetriable: no room within queue_wait, poll() and send it again. kInvalid: this record can never be sent (size,
  // no such topic or partition). Other errors: nothing more can be sent.
  virtual Result<> send(std::string_view topic, std::optional<std::string_view> key,
                        std::optional<std::string_view> payload, std::span<const Header> headers,
                        std::optional<UnixMs> timestamp = {}, std::optional<Partition> partition = {}) = 0;

  // Serves delivery reports, waits at most `limit` for the first.
  virtual void poll(Milliseconds limit) = 0;

  // Good only when every record sent so far was acknowledged, each with its offset. kTimeout: some are still on their
  // way.
  virtual Result<> flush(Milliseconds limit) = 0;

  [[nodiscard]] virtual std::uint64_t delivered() const = 0;
  [[nodiscard]] virtual std::uint64_t failed() const = 0;
};

}  // namespace reseq::kafka
