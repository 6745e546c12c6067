#include "tests/simulation/world/history.h"

#include <algorithm>

namespace reseq::simulation {

History::History(Broker& broker, std::size_t topics, std::int32_t partitions)
    : broker_(broker),
      partitions_(static_cast<std::size_t>(partitions)),
      logs_(topics * static_cast<std::size_t>(partitions)) {}

void History::read() {
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    Copy& copy = logs_[i];
    const Log& log = broker_.log({i / partitions_, Partition(static_cast<std::int32_t>(i % partitions_))});
    while (const Entry* entry = log.next_committed(copy.next)) {
      copy.records.push_back({entry->offset, entry->record});
      copy.next = Offset(entry->offset.value() + 1);
    }
  }
}

std::vector<const Kept*> History::between(Place place, Offset first, Offset end) const {
  const auto& records = log(place);
  auto one = std::lower_bound(records.begin(), records.end(), first,
                              [](const Kept& kept, Offset wanted) { return kept.offset < wanted; });
  std::vector<const Kept*> found;
  for (; one != records.end() && one->offset < end; ++one) found.push_back(&*one);
  return found;
}

}  // namespace reseq::simulation
