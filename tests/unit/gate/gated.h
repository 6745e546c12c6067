// Gated: an application with a gate on a simulated Kafka, and a worker of it.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/hash.h"
#include "runtime/worker/worker.h"
#include "tests/gate/window_gate.h"
#include "tests/unit/runtime/simulated_application.h"

namespace reseq::runtime {

template <std::int32_t kPartitions>
class Gated : public SimulatedApplication {
 protected:
  explicit Gated(const engine::Gate& gate) : SimulatedApplication(kPartitions) { application.gate = &gate; }
  // Without a gate.
  explicit Gated(config::Settings settings) : SimulatedApplication(kPartitions, std::move(settings)) {}
  void start() {
    worker = std::make_unique<Worker>(application, *kafka, clock, shelf, [] { return HashKey{}; });
    for (int i = 0; i < 10'000 && !all_running(); ++i) step();
    ASSERT_TRUE(all_running());
  }
  void step() {
    test::good(worker->step());
    ticks(1, 1);
  }
  bool all_running() {
    return worker->tasks().size() == kPartitions &&
           std::all_of(worker->tasks().begin(), worker->tasks().end(),
                       [](const auto& task) { return task->phase() == Phase::kRunning; });
  }
  simulation::Log& log(const std::string& topic, Partition partition = Partition(0)) {
    return broker.log({*broker.topic("app." + topic), partition});
  }
  static std::string id_in(Partition partition, int n = 0) {
    for (int i = 0;; ++i) {
      const std::string id = "document-" + std::to_string(i);
      if (codec::partition_of(id, Partitioner::kMurmur2, kPartitions) == partition && n-- == 0) return id;
    }
  }
  void append(const std::string& topic, const std::string& key, std::vector<simulation::StoredHeader> headers,
              const std::string& payload, Partition p = Partition(0)) {
    broker.append({*broker.topic("app." + topic), p}, {key, payload, std::move(headers), broker.now()});
  }
  void request(const std::string& id, std::uint64_t sequence, const std::string& payload, Partition p = Partition(0)) {
    append("requests", id, {{"reseq-seq", std::to_string(sequence)}}, payload, p);
  }
  void decide(std::uint64_t inputs) {
    for (int i = 0; i < 100'000 && worker->totals().inputs < inputs; ++i) step();
    ASSERT_GE(worker->totals().inputs, inputs);
    for (int i = 0; i < 20; ++i) step();
  }
  std::vector<simulation::StoredRecord> records(const std::string& topic, Partition p = Partition(0)) {
    std::vector<simulation::StoredRecord> committed;
    const simulation::Log& of = log(topic, p);
    for (const auto* entry = of.next_committed(Offset(0)); entry != nullptr;
         entry = of.next_committed(Offset(entry->offset.value() + 1)))
      committed.push_back(*entry->record);
    return committed;
  }
  std::vector<std::string> committed(const std::string& topic, Partition p = Partition(0)) {
    std::vector<std::string> payloads;
    for (const simulation::StoredRecord& record : records(topic, p))
      payloads.push_back(record.payload.value_or("null"));
    return payloads;
  }
  std::uint64_t held_now(std::size_t task = 0) {
    return worker->tasks()[task]->store().summary().counts[Count::kHeldRecords];
  }
  std::unique_ptr<Worker> worker;
};

}  // namespace reseq::runtime
