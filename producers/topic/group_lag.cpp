#include "producers/topic/group_lag.h"

#include <utility>

namespace reseq::topic {
namespace {

constexpr std::chrono::milliseconds kAskEvery{100};
constexpr Milliseconds kAskLimit{2000};

}  // namespace

Result<GroupLag> GroupLag::open(const TopicSinkOptions& topic, std::string group, std::uint64_t records_max) {
  auto admin = kafka::Admin::open(connection_of(topic));
  if (!admin) return admin.error();
  return GroupLag(std::move(admin).value(), topic.topic, std::move(group), records_max);
}

bool GroupLag::behind() {
  if (Clock::now() - asked_ < kAskEvery) return behind_;
  const auto lag = admin_->lag(group_, topic_, kAskLimit);
  behind_ = !lag || lag.value() > static_cast<std::int64_t>(records_max_);
  asked_ = Clock::now();
  return behind_;
}

}  // namespace reseq::topic
