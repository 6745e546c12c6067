// Operators: what people write to `control`, in some of the worlds: documents expired, dead letters released by hand,
// floors raised, partitions paused and resumed; as a dry run, with an expected state, twice, in the wrong partition.
// They draw for themselves, so that a world without them is the same as it would be without this file.
// Thread rule: one thread.
#pragma once

#include <string>

#include "tests/simulation/kafka/broker.h"
#include "tests/simulation/world/counters.h"
#include "tests/simulation/world/record.h"
#include "tests/simulation/world/scenario.h"

namespace reseq::simulation {

class Operators {
 public:
  Operators(const Scenario& scenario, Broker& broker, Counters& counters, std::uint64_t seed);

  // Perhaps writes one record.
  void tick();
  // Nothing stays paused.
  void resume_all();
  // This target can be reached again.
  void resume_target(Partition partition, const std::string& target);

 private:
  void write();
  void expire();
  void skip();
  void release();
  void raise_floor();
  void pause(Partition partition, bool paused);
  void add_target(StoredRecord& record, std::uint32_t per_mille);
  void add_expected(StoredRecord& record);
  [[nodiscard]] StoredRecord operation(const std::string& name, Partition partition);
  void append(Partition partition, const StoredRecord& record);
  [[nodiscard]] Partition any_partition();

  const Scenario& scenario_;
  Broker& broker_;
  Counters& counters_;
  Draw draw_;
  std::uint32_t per_mille_ = 0;  // of a thousand ticks
  std::size_t letters_;
  std::size_t work_;
  std::size_t control_;
  std::uint64_t operations_ = 0;
};

}  // namespace reseq::simulation
