// Recorder: copies everything that is ever committed to the logs of a world, before compaction can take it away.
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/judge/history.h"
#include "tests/simulation/kafka/broker.h"

namespace reseq::simulation {

class Recorder {
 public:
  Recorder(Broker& broker, std::size_t topics, std::int32_t partitions);

  // Copies what has become readable.
  void read();

  [[nodiscard]] const judge::History& history() const { return history_; }

 private:
  Broker& broker_;
  std::size_t partitions_;
  std::vector<Offset> next_;  // by topic and partition
  judge::History history_;
};

// As a reader gets it. REQUIRES: the entry holds a record; it lives as long as what is returned.
[[nodiscard]] judge::Record record_of(const Entry& entry);

}  // namespace reseq::simulation
