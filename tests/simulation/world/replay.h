// Replay: the changelog of one partition as batches, and each of them decided again from the inputs that its meta row
// names, by a serial loop over a state of its own. What comes out must be what was committed, byte by byte: the state
// is a function of the log.
// Thread rule: one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codec/hash.h"
#include "codec/wire.h"
#include "engine/batch.h"
#include "runtime/application.h"
#include "tests/simulation/world/counters.h"
#include "tests/simulation/world/history.h"

namespace reseq::simulation {

// An input with what became of it.
struct Decided {
  Role role = Role::kRequests;
  const StoredRecord* record = nullptr;
  Decision decision;
};

struct Released {
  std::string id;
  std::string target;
  std::uint32_t epoch = 0;
  std::uint64_t sequence = 0;
  std::uint64_t revision = 0;
  std::optional<std::string> payload;
};

struct Fired {
  std::string id;
  UnixMs deadline;
};

struct ReplayedBatch {
  Meta meta;
  std::vector<Decided> inputs;
  std::vector<Released> releases;  // of the commands
  std::vector<Fired> fired;
  std::vector<std::string> expired;
};

// Records that partitions produced, by topic, in a form that can be compared.
using Produced = std::vector<std::vector<std::string>>;
[[nodiscard]] std::string comparable(const StoredRecord& record);

class Replay {
 public:
  // REQUIRES: application was asked, its topics are those of the history in the same order.
  Replay(const runtime::Application& application, const History& history, Partition partition);
  ~Replay();

  // The batches with ranges, decided again. Stops at the first that cannot be read.
  void run(Produced& produced, Counters& counters);

  [[nodiscard]] const std::vector<ReplayedBatch>& batches() const { return batches_; }
  // The first thing that was not as it was committed, or empty.
  [[nodiscard]] const std::string& difference() const { return difference_; }
  // The changelog itself is no sequence of batches, or empty.
  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  struct Rows;
  struct LoggedBatch;

  bool read_changelog(std::vector<LoggedBatch>& logged);
  void give_birth(const LoggedBatch& birth);
  void decide(const LoggedBatch& logged, Produced& produced, Counters& counters);
  void fire_timers(const LoggedBatch& logged, engine::Batch& batch);
  void sweep(const Meta& meta, engine::Batch& batch);
  void compare(const LoggedBatch& logged, const engine::Batch& batch);
  void produce(const Emission& emission, const std::vector<codec::InputRecord>& inputs, Produced& produced);
  void differ(const std::string& what);

  const runtime::Application& application_;
  const History& history_;
  Partition partition_;
  std::unique_ptr<Rows> rows_;
  TargetTable targets_;
  std::unique_ptr<runtime::PartitionSetting> setting_;
  std::unique_ptr<codec::KeyedHash> hash_;
  PartitionState state_;
  std::vector<ReplayedBatch> batches_;
  std::string difference_;
  std::string broken_;
};

}  // namespace reseq::simulation
