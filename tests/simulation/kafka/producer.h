// SimulatedProducer: kafka::Producer over a Broker, as librdkafka behaves: records are queued and leave with flush() or
// before; a call that was not answered leaves doubt; after a fatal error every call answers it again.
// Thread rule: one thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/kafka/cluster.h"

namespace reseq::simulation {

class SimulatedProducer final : public kafka::Producer {
 public:
  SimulatedProducer(Broker& broker, const ClientSettings& settings)
      : broker_(broker), settings_(settings), topics_(broker, settings.topics) {}

  Result<> init(Milliseconds limit) override;
  Result<> begin() override;
  Result<> produce(const kafka::OutgoingRecord& record) override;
  void poll(Milliseconds limit) override;
  Result<> flush(Milliseconds limit) override;
  Result<> send_offsets(std::span<const kafka::TopicPartitionOffset> next, const kafka::GroupMetadata& group,
                        Milliseconds limit) override;
  Result<> commit(Milliseconds limit) override;
  Result<> abort(Milliseconds limit) override;
  [[nodiscard]] std::optional<Offset> delivered(kafka::TopicPartition where) const override;
  [[nodiscard]] bool in_doubt() const override { return settings_.recycle_on_doubt && in_doubt_; }

 private:
  struct Queued {
    Place place;
    kafka::TopicPartition where;
    bool explicit_partition = false;
    std::optional<std::string_view> key;  // as librdkafka: not copied before it leaves
    std::optional<std::string_view> payload;
    std::vector<StoredHeader> headers;
    UnixMs timestamp;
  };

  [[nodiscard]] Partition partition_of(const kafka::OutgoingRecord& record, std::size_t topic);
  // Sends what is queued. kTimeout: the transaction before is not over yet.
  Result<> send();
  Result<> finish(Call call, Fate fate, Milliseconds limit);
  Result<> end(Fate fate, const char* what);
  Error fail(Error error);
  Error not_answered(ErrorClass kind, const char* what, Milliseconds limit);
  Result<> usable(Call call, const char* what, Milliseconds limit);

  Broker& broker_;
  ClientSettings settings_;
  TopicMap topics_;
  ProducerIdentity who_;
  bool open_ = false;
  bool in_doubt_ = false;
  std::uint64_t transaction_ = 0;
  std::vector<Queued> queue_;
  std::set<Place> added_;        // to the transaction that is open
  bool offsets_added_ = false;   // likewise
  std::optional<Error> failed_;  // fatal: nothing but destruction helps
  std::optional<Error> undelivered_;
  std::map<kafka::TopicPartition, Offset> delivered_;
};

}  // namespace reseq::simulation
