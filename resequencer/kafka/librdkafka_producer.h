// The transactional producer (kafka/cluster.h, Producer).
// Invariants: no byte of key or payload is owned here (zero copy); a transaction with an undelivered record is
// never committed; once in doubt, always in doubt: only a new producer with the same transactional id ends the doubt.
// Thread rule: one thread; librdkafka's callbacks run inside our calls, but for on_response().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kafka/client_conf.h"
#include "kafka/cluster.h"
#include "kafka/handles.h"
#include "kafka/outgoing_headers.h"
#include "kafka/partition_list.h"
#include "kafka/settings.h"

namespace reseq::kafka {

class LibrdkafkaProducer final : public Producer {
 public:
  static Result<std::unique_ptr<Producer>> open(const ClusterSettings& settings);

  Result<> init(Milliseconds limit) override;
  Result<> begin() override;
  Result<> produce(const OutgoingRecord& record) override;
  void poll(Milliseconds limit) override;
  Result<> flush(Milliseconds limit) override;
  Result<> send_offsets(std::span<const TopicPartitionOffset> next, const GroupMetadata& group,
                        Milliseconds limit) override;
  Result<> commit(Milliseconds limit) override;
  Result<> abort(Milliseconds limit) override;
  [[nodiscard]] std::optional<Offset> delivered(TopicPartition where) const override;
  [[nodiscard]] bool in_doubt() const override { return recycle_on_doubt_ && in_doubt_; }

 private:
  // Delivery of records with an explicit partition.
  struct Progress {
    std::uint64_t outstanding = 0;
    Offset last = kNoOffset;
  };

  explicit LibrdkafkaProducer(TopicNames topics) : topics_(std::move(topics)), progress_(topics_.size()) {}
  Result<> start(const ClusterSettings& settings);

  // Topic handles, and the metadata of all topics: without it the first transaction takes a second.
  Result<> know_topics(Milliseconds limit);
  Result<> refused_by_state(const rd_kafka_error_t& error);
  Progress& progress(TopicPartition where);
  template <typename Call>
  Result<> transact(const char* what, Call call);

  static void on_delivery(rd_kafka_t* client, const rd_kafka_message_t* message, void* opaque);
  static rd_kafka_resp_err_t on_new(rd_kafka_t* client, const rd_kafka_conf_t* conf, void* self, char* text,
                                    std::size_t text_size);
  static rd_kafka_resp_err_t on_response(rd_kafka_t* client, int socket, const char* broker, int32_t broker_id,
                                         int16_t api, int16_t api_version, int32_t correlation_id, std::size_t size,
                                         int64_t round_trip, rd_kafka_resp_err_t error, void* self);

  TopicNames topics_;
  Milliseconds socket_timeout_;
  ClientContext context_;
  OutgoingHeaders headers_;
  std::vector<std::vector<Progress>> progress_;  // by topic index and partition
  std::optional<Error> undelivered_;             // first record of this transaction that failed
  bool open_ = false;                            // between begin() and a good commit() or abort()
  std::atomic<bool> in_doubt_ = false;           // set by librdkafka's threads, too; destroyed after the client
  bool recycle_on_doubt_ = true;
  bool membership_required_ = true;
  std::string group_id_;
  ProducerHandle handle_;
  std::vector<TopicHandle> handles_;  // by topic index; destroyed before the client
};

}  // namespace reseq::kafka
