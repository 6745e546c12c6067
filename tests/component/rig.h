// What the tests against a real broker share: an application with its own topics and group, and answers that must be
// good.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/admin.h"
#include "kafka/cluster.h"
#include "kafka/settings.h"
#include "tests/support/good.h"

namespace reseq::kafka {

inline constexpr Milliseconds kLong{20'000};
inline constexpr Milliseconds kShort{200};

using test::good;

// What a call that may take several tries answers in the end.
template <typename Call>
Result<> until_settled(Call call) {
  for (int i = 0; i < 100; ++i) {
    Result<> result = call();
    if (result) return result;
    const auto kind = result.error().what_to_do;
    if (kind != ErrorClass::kRetriable && kind != ErrorClass::kTimeout) return result;
  }
  return Error{ErrorClass::kFatal, 0, "it never settled"};
}

// Topics a, b, c … of one application.
class Rig {
 public:
  Rig(int topics, std::int32_t partitions);

  [[nodiscard]] Connection connection() const;
  [[nodiscard]] ClusterSettings settings(const std::string& instance) const;
  [[nodiscard]] std::unique_ptr<Cluster> cluster(const std::string& instance = "1") const;
  [[nodiscard]] const std::string& topic(std::size_t i) const { return topics_[i]; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Admin& admin() { return *admin_; }

 private:
  std::string name_;
  std::vector<std::string> topics_;
  std::unique_ptr<Admin> admin_;
};

[[nodiscard]] std::unique_ptr<Producer> ready_producer(Cluster& cluster);

// Records n, n+1, … with their number as payload.
void produce(Producer& producer, TopicPartition where, int first, int count);
// The same in a transaction of their own, which commits and has landed in the log.
void commit_records(Producer& producer, TopicPartition where, int first, int count);

// Polls until the group has given partitions to the consumer.
[[nodiscard]] Assigned wait_assigned(Consumer& consumer);
// Polls until a record comes.
[[nodiscard]] Record next_record(Consumer& consumer);
// Polls the reader until it is at `end` or beyond; returns the number of records on the way.
int read_to(LogReader& reader, Offset end);

inline const TopicIndex kA{0};
inline const TopicIndex kB{1};
inline const TopicPartition kA0{kA, Partition(0)};
inline const TopicPartition kB0{kB, Partition(0)};

}  // namespace reseq::kafka
