// LogReading: one topic, read by somebody who wants to know: from the beginnings of its partitions to their stable
// ends, or on from where they end now.
// Thread rule: one thread; it has clients of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/cluster.h"
#include "runtime/application/application.h"

namespace reseq::runtime {

// Called now and then, at least every second: where reading is, and where it ends. False: it is to end here.
using GoOn = std::function<bool(Partition, Offset at, Offset end)>;

class LogReading {
 public:
  // kInvalid: there is no such topic, or it may not be read.
  static Result<LogReading> open(const Application& application, const std::string& topic,
                                 std::chrono::milliseconds stable_patience = std::chrono::seconds(2));

  [[nodiscard]] std::int32_t partitions() const { return partitions_; }

  using Visit = std::function<void(const kafka::Record&)>;
  struct Bounds {
    Offset begin, end;
  };
  // From the oldest record that is kept to the last stable offset. Transactions that are open get `stable_patience` to
  // end, once for all partitions.
  Result<Bounds> bounds(Partition partition);
  // Every record that is committed from `begin` on and before `end`, oldest first. False: `go_on` ended it.
  Result<bool> read_range(Partition partition, const Bounds& range, const Visit& visit, const GoOn& go_on);
  // Every record that is committed, oldest first. False: `go_on` ended it.
  // kTimeout: no broker answers.
  Result<bool> read(Partition partition, const Visit& visit, const GoOn& go_on);
  // One record. kInvalid: there is none at this offset any more, or not yet, or it was never committed.
  Result<> read_one(Partition partition, Offset offset, const Visit& visit);

  // Those of these offsets, which rise, that are committed and kept. Reads what lies between them if that is little.
  // kTimeout: no broker answers.
  Result<> read_each(Partition partition, std::span<const Offset> offsets, const Visit& visit);

  // From now on follow() has what is written.
  Result<> mark_ends();
  // Visits what is committed until `enough` says so. kTimeout: it did not within `limit`. REQUIRES: mark_ends().
  Result<> follow(Milliseconds limit, const Visit& visit, const std::function<bool()>& enough);

 private:
  LogReading(std::string topic, std::unique_ptr<kafka::Cluster> cluster, std::unique_ptr<kafka::LogReader> reader,
             std::int32_t partitions, std::chrono::milliseconds stable_patience)
      : topic_(std::move(topic)),
        cluster_(std::move(cluster)),
        reader_(std::move(reader)),
        partitions_(partitions),
        stable_patience_(stable_patience) {}

  std::string topic_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::unique_ptr<kafka::LogReader> reader_;
  std::int32_t partitions_;
  std::chrono::steady_clock::duration stable_patience_;
};

}  // namespace reseq::runtime
