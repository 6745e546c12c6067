// History: everything that was ever committed to the logs of a world, copied before compaction can take it away. The
// checks read nothing else, and the states of the workers that are left at the end.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <vector>

#include "tests/simulation/kafka/broker.h"

namespace reseq::simulation {

struct Kept {
  Offset offset;
  std::shared_ptr<const StoredRecord> record;
};

class History {
 public:
  History(Broker& broker, std::size_t topics, std::int32_t partitions);

  // Copies what has become readable.
  void read();

  [[nodiscard]] const std::vector<Kept>& log(Place place) const {
    return logs_[place.topic * partitions_ + static_cast<std::size_t>(place.partition.value())].records;
  }
  // The records [first, end).
  [[nodiscard]] std::vector<const Kept*> between(Place place, Offset first, Offset end) const;

 private:
  struct Copy {
    Offset next;
    std::vector<Kept> records;
  };

  Broker& broker_;
  std::size_t partitions_;
  std::vector<Copy> logs_;
};

}  // namespace reseq::simulation
