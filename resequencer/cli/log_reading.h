// LogReading: one topic, read from a terminal: from the beginnings of its partitions to their stable ends, or on from
// where they end now.
// Thread rule: main thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/cluster.h"
#include "runtime/application.h"

namespace reseq::cli {

class LogReading {
 public:
  // kInvalid: there is no such topic, or it may not be read.
  static Result<LogReading> open(const runtime::Application& application, const std::string& topic);

  [[nodiscard]] std::int32_t partitions() const { return partitions_; }

  using Visit = std::function<void(const kafka::Record&)>;
  // Every record that is committed, oldest first. Says on stderr how far it is when it takes longer than a few seconds.
  // kTimeout: no broker answers.
  Result<> read(Partition partition, const Visit& visit);
  // One record. kInvalid: there is none at this offset any more, or not yet, or it was never committed.
  Result<> read_one(Partition partition, Offset offset, const Visit& visit);

  // From now on follow() has what is written.
  Result<> mark_ends();
  // Visits what is committed until `enough` says so. kTimeout: it did not within `limit`. REQUIRES: mark_ends().
  Result<> follow(Milliseconds limit, const Visit& visit, const std::function<bool()>& enough);

 private:
  LogReading(std::string topic, std::unique_ptr<kafka::Cluster> cluster, std::unique_ptr<kafka::LogReader> reader,
             std::int32_t partitions)
      : topic_(std::move(topic)), cluster_(std::move(cluster)), reader_(std::move(reader)), partitions_(partitions) {}

  struct Bounds {
    Offset begin, end;
  };
  Result<Bounds> bounds(Partition partition);

  std::string topic_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::unique_ptr<kafka::LogReader> reader_;
  std::int32_t partitions_;
};

}  // namespace reseq::cli
