// Trouble: a reader of logs that fails as it is told: records that are damaged, partitions that are silent, calls that
// fail in a drawn way.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kafka/cluster.h"

namespace reseq::runtime::troubled {

inline constexpr int kBadMessage = -199;  // RD_KAFKA_RESP_ERR__BAD_MSG: a batch with a wrong checksum

struct Trouble {
  kafka::TopicIndex topic{0};
  std::map<Offset, int> damaged;  // of partition 0, how often
  std::set<Partition> silent;     // without a leader: nothing comes, and no error
  std::uint32_t per_mille = 0;    // of the calls of who reads requests: they fail in a drawn way
  std::uint32_t draw = 12345;
  int served = 0;    // times that a client that reads requests was served
  int failures = 0;  // drawn

  bool fails() {
    draw = draw * 1664525U + 1013904223U;
    const bool failed = (draw >> 8U) % 1000 < per_mille;
    failures += failed ? 1 : 0;
    return failed;
  }
};

class TroubledReader final : public kafka::LogReader {
 public:
  TroubledReader(std::unique_ptr<kafka::LogReader> inner, Trouble& trouble)
      : inner_(std::move(inner)), trouble_(trouble) {}
  Result<> assign(std::span<const kafka::TopicPartitionOffset> positions) override {
    failed_.clear();
    references_ = references_ || (!positions.empty() && positions.front().where.topic == trouble_.topic);
    if (references_ && trouble_.fails()) return Error{ErrorClass::kFatal, 0, "assign"};
    positions_.assign(positions.begin(), positions.end());
    std::vector<kafka::TopicPartitionOffset> heard;
    for (const auto& one : positions)
      if (one.where.topic != trouble_.topic || !trouble_.silent.contains(one.where.partition)) heard.push_back(one);
    return inner_->assign(heard);
  }
  Result<kafka::LogPolled> poll(Milliseconds limit) override {
    if (references_ && trouble_.fails()) {
      if (trouble_.draw % 3 == 0 || positions_.empty()) return Error{ErrorClass::kFatal, 0, "poll"};
      const auto where = positions_[trouble_.draw % positions_.size()].where;
      failed_.insert(where.partition);
      const int code = trouble_.draw % 2 == 0 ? 1 : 29;  // out of range, not authorized
      return kafka::LogPolled(kafka::PartitionFailure{where, Error{ErrorClass::kInvalid, code, "drawn"}});
    }
    auto polled = inner_->poll(limit);
    if (!polled) return polled;
    const auto* const record = std::get_if<kafka::Record>(&polled.value());
    if (record == nullptr || record->where.topic != trouble_.topic) return polled;
    const kafka::TopicPartition where = record->where;
    if (failed_.contains(where.partition)) return kafka::LogPolled(kafka::Nothing{});
    const auto damaged = trouble_.damaged.find(record->offset);
    if (where.partition != Partition(0) || damaged == trouble_.damaged.end() || damaged->second-- <= 0) return polled;
    failed_.insert(where.partition);
    return kafka::LogPolled(kafka::PartitionFailure{where, Error{ErrorClass::kRetriable, kBadMessage, "damaged"}});
  }
  Result<std::vector<kafka::TopicPartitionOffset>> begins(std::span<const kafka::TopicPartition> which,
                                                          Milliseconds limit) override {
    if (references_ && trouble_.fails()) return Error{ErrorClass::kTimeout, 0, "begins"};
    return inner_->begins(which, limit);
  }
  Result<std::vector<kafka::TopicPartitionOffset>> stable_ends(std::span<const kafka::TopicPartition> which,
                                                               Milliseconds limit) override {
    return inner_->stable_ends(which, limit);
  }
  Result<std::vector<kafka::TopicPartitionOffset>> high_watermarks(std::span<const kafka::TopicPartition> which,
                                                                   Milliseconds limit) override {
    return inner_->high_watermarks(which, limit);
  }
  void serve() override {
    trouble_.served += references_ ? 1 : 0;
    inner_->serve();
  }

 private:
  std::unique_ptr<kafka::LogReader> inner_;
  Trouble& trouble_;
  std::set<Partition> failed_;
  std::vector<kafka::TopicPartitionOffset> positions_;
  bool references_ = false;
};

class TroubledCluster final : public kafka::Cluster {
 public:
  TroubledCluster(kafka::Cluster& inner, Trouble& trouble) : inner_(inner), trouble_(trouble) {}
  Result<std::unique_ptr<kafka::Consumer>> consumer(kafka::TopicIndex subscribed) override {
    return inner_.consumer(subscribed);
  }
  Result<std::unique_ptr<kafka::Producer>> producer() override { return inner_.producer(); }
  Result<std::unique_ptr<kafka::LogReader>> log_reader() override {
    auto made = inner_.log_reader();
    if (!made) return made;
    return std::unique_ptr<kafka::LogReader>(std::make_unique<TroubledReader>(std::move(made).value(), trouble_));
  }
  Result<std::string> cluster_id(Milliseconds limit) override { return inner_.cluster_id(limit); }
  Result<kafka::TopicFacts> topic_facts(kafka::TopicIndex topic, Milliseconds limit) override {
    return inner_.topic_facts(topic, limit);
  }

 private:
  kafka::Cluster& inner_;
  Trouble& trouble_;
};

}  // namespace reseq::runtime::troubled
