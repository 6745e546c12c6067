// GroupLag: holds a producer back while a consumer group is too far behind it. The pace is then that of the group,
// however long one of the two stalls.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "kafka/admin.h"
#include "producers/topic/topic_sink.h"

namespace reseq::topic {

class GroupLag {
 public:
  // `records_max`: how many records of the topic the group may not have committed yet.
  static Result<GroupLag> open(const TopicSinkOptions& topic, std::string group, std::uint64_t records_max);

  // True while the group is further behind. Asks the brokers now and then; no answer counts as behind.
  [[nodiscard]] bool behind();

 private:
  using Clock = std::chrono::steady_clock;
  GroupLag(std::unique_ptr<kafka::Admin> admin, std::string topic, std::string group, std::uint64_t records_max)
      : admin_(std::move(admin)), topic_(std::move(topic)), group_(std::move(group)), records_max_(records_max) {}

  std::unique_ptr<kafka::Admin> admin_;
  std::string topic_;
  std::string group_;
  std::uint64_t records_max_;
  Clock::time_point asked_;
  bool behind_ = false;
};

}  // namespace reseq::topic
