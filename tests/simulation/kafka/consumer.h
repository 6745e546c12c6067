// SimulatedConsumer: kafka::Consumer as a member of the Broker's group. Its heartbeats go on while the worker is busy,
// and stop while the process is paused or has not polled for max.poll.interval.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tests/simulation/kafka/fetcher.h"

namespace reseq::simulation {

class SimulatedGroupMetadata final : public kafka::GroupMetadata {
 public:
  explicit SimulatedGroupMetadata(Membership membership) : membership_(std::move(membership)) {}
  [[nodiscard]] const Membership& membership() const { return membership_; }

 private:
  Membership membership_;
};

class SimulatedConsumer final : public kafka::Consumer, private Heartbeats {
 public:
  SimulatedConsumer(Broker& broker, const Process& process, const ClientSettings& settings,
                    kafka::TopicIndex subscribed);
  ~SimulatedConsumer() override { broker_.remove(*this); }

  Result<kafka::Polled> poll(Milliseconds limit) override;
  Result<> assign(std::span<const kafka::TopicPartitionOffset> positions) override;
  Result<std::vector<kafka::TopicPartitionOffset>> committed(std::span<const kafka::TopicPartition> which,
                                                             Milliseconds limit) override;
  Result<std::vector<kafka::TopicPartitionOffset>> begins(std::span<const kafka::TopicPartition> which,
                                                          Milliseconds limit) override;
  Result<std::vector<kafka::TopicPartitionOffset>> stable_ends(std::span<const kafka::TopicPartition> which,
                                                               Milliseconds limit) override;
  [[nodiscard]] std::optional<Offset> known_end(kafka::TopicPartition where) const override;
  std::shared_ptr<const kafka::GroupMetadata> group_now() override;
  void close(Milliseconds limit) override;

 private:
  void heartbeat() override;
  [[nodiscard]] bool polled_in_time() const;
  // What the group says first; nothing: it says nothing new.
  std::optional<kafka::Polled> serve_group();
  kafka::Revoked give_back(bool lost);
  void join();

  Broker& broker_;
  const Process& process_;
  ClientSettings settings_;
  std::optional<Place> subscribed_;
  Fetcher fetcher_;
  Membership membership_;
  std::optional<std::vector<Partition>> held_;  // as told by poll()
  bool kicked_ = false;                         // the group does not know this member any more
  bool fenced_ = false;
  bool closed_ = false;
  UnixMs polled_at_;
};

}  // namespace reseq::simulation
