#include "tests/recovery/stranger.h"

#include <stdexcept>
#include <utility>
#include <variant>

#include "kafka/group_consumer.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application/clients.h"
#include "tests/e2e/patience.h"
#include "tests/support/good.h"

namespace reseq::test {

namespace {

constexpr Milliseconds kStrangerLimit{30'000};
constexpr Milliseconds kSlice{100};
constexpr std::chrono::milliseconds kWait{60'000};

config::Settings settings_of(const Operator& shop) {
  config::Settings settings;
  settings.application_id = shop.application_id();
  settings.instance_id = "stranger";
  settings.bootstrap_servers = shop.bootstrap_servers;
  settings.transaction_timeout_ms = 120'000;
  settings.targets = {{.name = "search"}};
  return settings;
}

}  // namespace

Stranger::Stranger(const Operator& shop) : application_(settings_of(shop)) {
  const auto probe = good(kafka::open_cluster(runtime::cluster_settings_of(application_, std::nullopt)));
  (void)good(application_.ask(*probe, kStrangerLimit));
  kafka::ClusterSettings settings = runtime::cluster_settings_of(application_, 0);
  settings.group_instance_id.clear();  // it leaves the group when it closes
  cluster_ = good(kafka::open_cluster(std::move(settings)));
  producer_ = good(cluster_->producer());
  good(producer_->init(kStrangerLimit));
}

void Stranger::begin() {
  good(producer_->begin());
}

void Stranger::write_to_changelog(int partition) {
  kafka::OutgoingRecord record;
  record.topic = application_.topics.of(Role::kChangelog);
  record.partition = Partition(partition);
  record.key = "stranger";
  record.payload = "was here";
  good(producer_->produce(record));
  good(producer_->flush(kStrangerLimit));
}

void Stranger::send_offset(int partition, std::int64_t offset) {
  std::shared_ptr<const kafka::GroupMetadata> group;
  const auto consumer = good(cluster_->consumer(application_.topics.of(Role::kRequests)));
  const bool alone = wait_until(kWait, [&] {
    const auto polled = good(consumer->poll(kSlice));
    if (const auto* assigned = std::get_if<kafka::Assigned>(&polled))
      group =
          assigned->partitions.size() == static_cast<std::size_t>(application_.partitions) ? assigned->group : nullptr;
    return group != nullptr;
  });
  if (!alone) throw std::runtime_error("the group is not empty");
  const kafka::TopicPartitionOffset next{{application_.topics.of(Role::kRequests), Partition(partition)},
                                         Offset(offset)};
  good(producer_->send_offsets({&next, 1}, *group, kStrangerLimit));
  consumer->close(kStrangerLimit);
}

void Stranger::abort() {
  good(producer_->abort(kStrangerLimit));
}

void Stranger::commit_by_hand(const Operator& shop, int partitions,
                              const std::vector<std::pair<int, std::int64_t>>& to) {
  std::vector<kafka::PlainOffset> next;
  for (const auto& [partition, offset] : to)
    next.push_back({shop.topic("requests"), Partition(partition), Offset(offset)});
  // The group must be empty: a member that was stopped counts until its session is over.
  const bool committed = wait_until(kWait, [&] {
    const auto consumer = kafka::GroupConsumer::join(
        shop.connection(), {.group_id = shop.application_id(), .topics = {shop.topic("requests")}});
    if (!consumer) return false;
    std::size_t owned = 0;
    for (int i = 0; i < 100 && owned < static_cast<std::size_t>(partitions); ++i) {
      (void)consumer.value()->poll(kSlice);
      owned = consumer.value()->positions().size();
    }
    return owned == static_cast<std::size_t>(partitions) && consumer.value()->commit(next).ok();
  });
  if (!committed) throw std::runtime_error("offsets cannot be committed");
}

}  // namespace reseq::test
