// Broker: logs, transactions and the group of a simulated cluster, tied together, and the hands of its scheduler.
// Nothing happens in it by itself: markers land, members and transactions expire and late requests arrive in tick().
// Thread rule: one thread.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "kafka/cluster.h"
#include "tests/simulation/kafka/draw.h"
#include "tests/simulation/kafka/faults.h"
#include "tests/simulation/kafka/group.h"
#include "tests/simulation/kafka/log.h"
#include "tests/simulation/kafka/transactions.h"
#include "tests/simulation/kafka/virtual_time.h"

namespace reseq::simulation {

struct BrokerSettings {
  std::string cluster_id = "simulated";
  Milliseconds sweep_interval{10'000};   // between looks for overdue transactions
  Milliseconds wait_max{20};             // a call that waits takes at most this much virtual time
  Milliseconds commit_takes{0};          // a commit that comes back good
  std::uint32_t marker_per_mille = 500;  // of the markers on their way, in a tick
  std::uint32_t late_per_mille = 200;    // of the late requests, in a tick
  std::uint32_t early_per_mille = 200;   // produced records that a client sends before flush()
  // librdkafka's adapter does not commit offsets for a membership without generation; off: the broker's hole shows.
  bool refuse_without_generation = true;
};

struct BrokerCounters {
  std::uint64_t generations = 0;
  std::uint64_t transactions_overdue = 0;
  std::uint64_t late_hits = 0;         // a late request ended a transaction that was not its own
  std::uint64_t begins_in_doubt = 0;   // transactions begun by a producer in doubt
  std::uint64_t unstable_answers = 0;  // committed() while a transaction was pending
  std::uint64_t fenced = 0;            // calls of a producer or member that another one has replaced
};

// Somebody who sends heartbeats from a thread of its own.
class Heartbeats {
 public:
  virtual ~Heartbeats() = default;
  virtual void heartbeat() = 0;
};

class Broker {
 public:
  Broker(VirtualTime& time, Draw& draw, BrokerSettings settings);

  std::size_t create_topic(std::string name, kafka::TopicFacts facts);
  // Index of a topic; nothing when it does not exist.
  [[nodiscard]] std::optional<std::size_t> topic(std::string_view name) const;
  [[nodiscard]] kafka::TopicFacts& facts(std::size_t topic) { return topics_[topic].facts; }
  [[nodiscard]] Log& log(Place place) { return topics_[place.topic].logs[index(place)]; }
  // Null: there is no such partition.
  [[nodiscard]] Log* find_log(Place place);

  // A record outside of any transaction.
  Offset append(Place place, StoredRecord record);

  // What the scheduler may let happen.
  void tick();
  // A round of the cleaner over a compacted topic. `active`: so many offsets at the end of each log stay as they are.
  void compact(std::size_t topic, std::int64_t active);
  void trim(Place place, Offset begin);
  Offset truncate(Place place, Offset end);
  // No marker and no request is on its way, no transaction is open.
  [[nodiscard]] bool quiet() const { return late_.empty() && transactions_.quiet(); }

  // For the clients.
  TransactionAnswer end(ProducerIdentity who, Fate fate);
  TransactionAnswer append(ProducerIdentity who, Place place, StoredRecord record, Offset& at);
  void arrive_late(ProducerIdentity who, Fate fate, std::uint64_t transaction);
  // A call waits: takes at most `limit` of virtual time.
  void wait(Milliseconds limit);
  void add(Heartbeats& one) { alive_.push_back(&one); }
  void remove(const Heartbeats& one) { std::erase(alive_, &one); }

  [[nodiscard]] Transactions& transactions() { return transactions_; }
  [[nodiscard]] Group& group() { return group_; }
  [[nodiscard]] Faults& faults() { return faults_; }
  [[nodiscard]] Draw& draw() { return draw_; }
  [[nodiscard]] Journal& journal() { return journal_; }
  [[nodiscard]] BrokerSettings& settings() { return settings_; }
  [[nodiscard]] BrokerCounters& counters() { return counters_; }
  [[nodiscard]] UnixMs now() const { return time_.now(); }

  // Numbers the transactions of all producers: tells a late request which one it belongs to.
  std::uint64_t new_transaction() { return ++transactions_begun_; }
  void set_current(ProducerId producer, std::uint64_t transaction) { current_[producer] = transaction; }

 private:
  struct Topic {
    std::string name;
    kafka::TopicFacts facts;
    std::deque<Log> logs;
  };
  struct Late {
    ProducerIdentity who;
    Fate fate;
    std::uint64_t transaction;
  };

  [[nodiscard]] static std::size_t index(Place place) { return static_cast<std::size_t>(place.partition.value()); }
  void land_markers();
  void arrive();

  VirtualTime& time_;
  Draw& draw_;
  BrokerSettings settings_;
  std::vector<Topic> topics_;
  Transactions transactions_;
  Group group_;
  Faults faults_;
  Journal journal_;
  BrokerCounters counters_;
  std::vector<Late> late_;
  std::map<ProducerId, std::uint64_t> current_;
  std::uint64_t transactions_begun_ = 0;
  std::vector<Heartbeats*> alive_;  // in the order they came
  Milliseconds sweep_at_;
};

}  // namespace reseq::simulation
