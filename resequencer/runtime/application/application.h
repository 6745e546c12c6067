// Application: what all partitions of a process share and what does not change while it runs: settings, topics and the
// facts that the brokers told about them.
// Thread rule: read-only after open.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/wire.h"
#include "config/settings.h"
#include "engine/batch.h"
#include "engine/context.h"
#include "engine/journal/journal.h"
#include "engine/orders/orders.h"
#include "kafka/cluster.h"
#include "kafka/settings.h"
#include "model/guards.h"
#include "model/partition_state.h"
#include "model/target.h"
#include "runtime/application/inputs.h"

namespace reseq::runtime {

// Topic names of the application and their places in the list that the cluster is opened with.
class Topics {
 public:
  explicit Topics(const config::Settings& settings);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] kafka::TopicIndex of(Role role) const;                  // REQUIRES: not kOutput
  [[nodiscard]] kafka::TopicIndex output(std::size_t i) const;          // of settings.targets[i]
  [[nodiscard]] kafka::TopicIndex missing() const { return missing_; }  // where policy on_missing = topic sends
  [[nodiscard]] Role role_of_input(kafka::TopicIndex topic) const;
  [[nodiscard]] const std::string& name(kafka::TopicIndex topic) const { return names_[topic.value()]; }

 private:
  kafka::TopicIndex add(const std::string& name);
  std::vector<std::string> names_;
  std::array<kafka::TopicIndex, 10> by_role_{};
  std::vector<kafka::TopicIndex> outputs_;
  kafka::TopicIndex missing_;
};

// By topic index: what the brokers told, or why they did not.
using TopicAnswers = std::vector<Result<kafka::TopicFacts>>;

struct Application {
  explicit Application(config::Settings from);

  config::Settings settings;
  Topics topics;
  SequenceKind sequence_kind;
  Partitioner partitioner;
  codec::DeadLetterHeaders dead_letter_headers;
  bool cloudevents = false;
  std::optional<codec::InputPlaces> elsewhere;  // `input.id`, `input.sequence`; none: as the wire contract says
  std::uint32_t headers_max = 0;
  bool explicit_deletes = false;
  bool journal = false;          // requests wait for their turn
  bool keeps_under_way = false;  // what was dispatched may come back: requests are read again
  // Requests are not read while too many results of ordered targets are held: nothing else bounds them.
  bool held_stops_requests = false;

  // From the brokers (ask()):
  std::string cluster_id;
  std::int32_t partitions = 0;
  std::vector<std::uint64_t> record_bytes_max;    // by topic index
  std::uint64_t message_bytes_largest = 0;        // largest max.message.bytes of all topics
  std::uint64_t message_bytes_least_written = 0;  // least of those that are written
  Milliseconds delete_retention;                  // delete.retention.ms of the changelog
  bool requests_compacted = false;                // records in the midst of its log may be gone

  // What clients of this process tell goes there; empty: into the log as it is.
  kafka::LogCallback client_log;

  // What stands in front of `work`; none: nothing does. It outlives the application.
  const engine::Gate* gate = nullptr;
  // Requests that wait: with any configuration, because a state may hold some.
  std::shared_ptr<const engine::Journal> journal_agenda;
  std::shared_ptr<const engine::Orders> orders_agenda;
  // All that has an agenda.
  [[nodiscard]] std::vector<const engine::AgendaSource*> agenda() const;

  Guards guards;  // all on, but for a simulation that shows what one is for

  // Asks the brokers what they know of the topics, and keeps it. An error: nobody answers now, or (kInvalid) they
  // refuse us. What a topic lacks is for judge_topics().
  Result<TopicAnswers> ask(kafka::Cluster& cluster, Milliseconds limit);

  // What a record of `requests` says is its document. Absent: nothing, or null.
  [[nodiscard]] std::optional<std::string_view> id_of_request(const kafka::Record& record) const;

 private:
  void note(const TopicAnswers& answers);
};

// What decisions in one partition depend on, with its own target numbers. `table` holds every configured target.
struct PartitionSetting {
  engine::Context context;
  TargetTable known;  // as the table, names of targets that are not configured any more left empty
  std::array<kafka::TopicIndex, kMaxTargets> outputs{};
};
[[nodiscard]] PartitionSetting partition_setting(const Application& application, const TargetTable& table);

// The first target that is strict or total; null: none is.
[[nodiscard]] const config::Target* first_ordered(const config::Settings& settings);
// kInvalid: a configured target has another order than in the table; newest and monotonic are one there.
[[nodiscard]] Result<> check_orders(const Application& application, const TargetTable& table);
// The table with the configured targets that it lacks appended. kInvalid: it is full, or as in check_orders().
[[nodiscard]] Result<TargetTable> extended(const Application& application, const TargetTable& table);

// REQUIRES: it is one of the application's kinds.
[[nodiscard]] const engine::AgendaKind& kind_of(const Application& application, std::uint8_t number);

// The folder of this process below state.dir.
[[nodiscard]] std::string instance_path(const config::Settings& settings);

// Bits of what a state of this process may hold that older versions do not know.
[[nodiscard]] std::uint64_t capabilities(const Application& application);

// Those of them that what it writes needs.
[[nodiscard]] std::uint64_t needed_capabilities(const Application& application);

// Of what must not differ between instances without being seen: kept in the meta row.
[[nodiscard]] std::uint64_t config_hash(const Application& application);

}  // namespace reseq::runtime
