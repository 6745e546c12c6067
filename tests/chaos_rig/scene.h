// What the tests of the chaos rig share: brokers behind their proxy, a topic of one's own, clients with names.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/cluster.h"
#include "kafka/plain_producer.h"
#include "kafka/settings.h"
#include "tests/chaos/cluster/cluster.h"
#include "tests/support/good.h"

namespace reseq::chaos {

inline constexpr Milliseconds kLong{60'000};
inline constexpr Milliseconds kShort{200};
inline constexpr std::chrono::seconds kPatience{60};
inline constexpr std::chrono::minutes kHealing{2};
inline constexpr std::int16_t kDone = 0;  // error code of an answer: none
inline const kafka::TopicPartition kPlace{kafka::TopicIndex(0), Partition(0)};

using test::good;

// One broker for all tests of this program, started at the first call.
Cluster& one_broker();

// A topic with one partition, and clients of it that reach the brokers through the proxy.
class Scene {
 public:
  explicit Scene(Cluster& cluster, std::int32_t replicas = 1);
  ~Scene() { cluster_.proxy().clear(); }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] Proxy& proxy() { return cluster_.proxy(); }
  [[nodiscard]] const std::string& topic() const { return topic_; }
  // Also the transactional id and the group of the clients.
  [[nodiscard]] const std::string& name() const { return topic_; }

  // Requests that are not answered within 2 s are repeated.
  [[nodiscard]] kafka::Connection connection(const std::string& client) const;
  [[nodiscard]] kafka::ClusterSettings settings() const;
  [[nodiscard]] std::unique_ptr<kafka::PlainProducer> plain_producer(const std::string& client) const;
  // Initialised. Each of them fences the one before.
  [[nodiscard]] std::unique_ptr<kafka::Producer> producer(kafka::ClusterSettings settings);

  // What a read_committed reader finds in the log, once it has reached what is its end now.
  [[nodiscard]] std::vector<std::string> committed_payloads();

 private:
  Cluster& cluster_;
  std::string topic_;
  std::vector<std::unique_ptr<kafka::Cluster>> opened_;  // outlive their producers
};

// One record, acknowledged.
void put(kafka::PlainProducer& producer, const std::string& topic, const std::string& payload);
void put(kafka::Producer& producer, const std::string& payload);
// Repeats a call of a transaction for as long as its error says that this may help.
template <typename Call>
Result<> settled(Call call) {
  for (int i = 0; i < 300; ++i) {
    Result<> result = call();
    if (result) return result;
    const auto kind = result.error().what_to_do;
    if (kind != ErrorClass::kRetriable && kind != ErrorClass::kTimeout) return result;
  }
  return Error{ErrorClass::kFatal, 0, "it never settled"};
}

}  // namespace reseq::chaos
