// Bystander: reads partitions without being anybody: no group, so nobody is asked for a coordinator, no offset is
// committed and no right on a group is needed; no metadata request that creates a topic. read_committed, checksums
// checked, each partition with a queue of its own, so that they can be taken in any order within bounded memory.
// Thread rule: one thread. Records must be destroyed before it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/cluster.h"
#include "kafka/plain_record.h"
#include "kafka/settings.h"

namespace reseq::kafka {

class Bystander {
 public:
  // Reads each of `from` from its explicit offset; a partition is called by its place there. `queue_bytes_max`: fetched
  // and not yet polled, of all of them together. kInvalid: a setting is wrong.
  static Result<std::unique_ptr<Bystander>> open(const Connection& connection, std::span<const PlainOffset> from,
                                                 std::uint64_t queue_bytes_max = 64 * 1024 * 1024);
  virtual ~Bystander() = default;

  // The next record of one partition. The topic of a record and of an end is TopicIndex 0, whatever it is.
  // REQUIRES: place < from.size().
  virtual Result<LogPolled> poll(std::size_t place, Milliseconds limit) = 0;
};

// First offsets at or after a time, one per partition of the topic; the end where there is none. kInvalid: no such
// topic.
[[nodiscard]] Result<std::vector<PlainOffset>> offsets_at(const Connection& connection, const std::string& topic,
                                                          UnixMs time, Milliseconds limit);

}  // namespace reseq::kafka
