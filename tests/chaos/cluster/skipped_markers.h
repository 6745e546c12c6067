// SkippedMarkers: which transactions a broker calls complete although it has skipped markers of them, by what it logs.
// Kafka 4.3.1 takes a partition without a leader for deleted. A coordinator that was killed and started again may look
// before its own broker leads anything, and logs, shortened:
//   Sending txn markers for ...(app.r1.0,8,COMMIT,TransactionMetadata(..., producerId=7, ..., producerEpoch=47, ...
//   Couldn't find leader endpoint for partitions Set(topic-3, ...) ... markers for app.r1.0, these partitions are
//   likely deleted already and hence can be skipped
// The first line is only there for what it had decided before it was killed. When its term ends meanwhile it says:
//   No longer the coordinator for transactionalId: app.r1.0 while trying to append to transaction log, ...
// Whoever coordinates in the next term sends the markers again, unless its log has the record all the same: that the
// transaction is complete may have been written before the term ended, and only the answer came after.
// Thread rule: none of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reseq::chaos {

struct NamedPartition {
  std::string topic;
  std::int32_t partition = 0;
  bool operator==(const NamedPartition&) const = default;
};

// How a coordinator has ended a transaction: what a marker says.
struct Decision {
  std::int64_t producer_id = 0;
  std::int16_t producer_epoch = 0;
  bool commit = false;
  std::int32_t coordinator_epoch = 0;
  bool operator==(const Decision&) const = default;
};

struct Skipped {
  std::string transactional_id;
  std::optional<Decision> decision;  // nothing: the log does not say it
  std::vector<NamedPartition> partitions;
  bool left_to_next = false;  // the term of who skipped them is over: the next coordinator sends them, or nobody does
  bool operator==(const Skipped&) const = default;
};

class SkippedMarkers {
 public:
  // The next line of the log. A coordinator that sends markers again takes back that they were skipped.
  void read(std::string_view line);
  // From here on clients may begin transactions: what was decided before says nothing of them.
  void forget_decisions() { decisions_.clear(); }

  [[nodiscard]] const std::vector<Skipped>& all() const { return skipped_; }
  // All, which are then forgotten.
  [[nodiscard]] std::vector<Skipped> take();
  // What was taken and is not done with.
  void put_back(Skipped skipped) { skipped_.push_back(std::move(skipped)); }

 private:
  std::map<std::string, Decision, std::less<>> decisions_;  // by transactional id
  std::vector<Skipped> skipped_;
};

}  // namespace reseq::chaos
