#include "cli/init.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kafka/admin.h"
#include "kafka/error_questions.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application/application.h"
#include "runtime/application/clients.h"

namespace reseq::cli {

namespace {

constexpr Milliseconds kCreateLimit{60'000};
// What we add to a record on its way to work or dead-letter is below this.
constexpr std::int64_t kOwnHeaderBytes = 64 * 1024;
constexpr std::int64_t kReplicasForTwoInSync = 3;
constexpr const char* kSevenDays = "604800000";
constexpr const char* kOneHour = "3600000";

// `inputs`: partitions of the inputs, and of what is partitioned like them.
std::vector<kafka::TopicSpec> specs_of(const runtime::Application& application, std::int64_t inputs,
                                       std::int64_t replicas) {
  const config::Settings& s = application.settings;
  const runtime::Topics& topics = application.topics;
  const std::string input_bytes = std::to_string(s.init_max_message_bytes);
  const std::string output_bytes = std::to_string(s.init_max_message_bytes + kOwnHeaderBytes);
  std::vector<kafka::TopicSpec> specs;
  // One broker may fail without losing what was acknowledged, and without stopping.
  const bool replicated = replicas >= kReplicasForTwoInSync;
  const auto add = [&](const std::string& topic, std::int64_t partitions, kafka::Properties configs) {
    if (replicated) configs.emplace_back("min.insync.replicas", "2");
    specs.push_back(
        {topic, static_cast<std::int32_t>(partitions), static_cast<std::int32_t>(replicas), std::move(configs)});
  };
  const auto of = [&](Role role) { return topics.name(topics.of(role)); };
  // A request must not outlive the memory of its document (topic_rules.h); results are needed while an outage lasts.
  const std::string remembered = std::to_string(s.watermark_retention_ms);
  for (const Role role : runtime::kInputs)
    add(of(role), inputs,
        {{"cleanup.policy", "delete"},
         {"retention.ms", role == Role::kRequests ? remembered : std::string(kSevenDays)},
         {"max.message.bytes", input_bytes}});
  add(of(Role::kWork), s.init_work_partitions, {{"max.message.bytes", output_bytes}});
  add(of(Role::kDeadLetter), inputs, {{"cleanup.policy", "delete"}, {"max.message.bytes", output_bytes}});
  add(of(Role::kEvents), inputs, {{"cleanup.policy", "delete"}});
  // Seven days: longer than an instance is likely to be away.
  add(of(Role::kChangelog), inputs,
      {{"cleanup.policy", "compact"},
       {"delete.retention.ms", kSevenDays},
       {"min.compaction.lag.ms", "60000"},
       {"unclean.leader.election.enable", "false"}});
  for (std::size_t i = 0; i < s.targets.size(); ++i)
    add(topics.name(topics.output(i)), s.init_output_partitions, {{"max.message.bytes", output_bytes}});
  if (topics.missing() != topics.of(Role::kDeadLetter))
    add(topics.name(topics.missing()), inputs, {{"max.message.bytes", output_bytes}});
  // What is asked and answered is of use to nobody afterwards.
  for (const std::string& name : {s.topic_admin_requests, s.topic_admin_replies})
    add(name, 1, {{"cleanup.policy", "delete"}, {"retention.ms", kOneHour}});
  return specs;
}

// How many partitions each topic has; 0 = it does not exist.
using Partitions = std::map<std::string, std::int32_t>;

Result<Partitions> ask_partitions(kafka::Admin& admin, const runtime::Application& application) {
  std::vector<std::string> names = application.topics.names();
  names.push_back(application.settings.topic_admin_requests);
  names.push_back(application.settings.topic_admin_replies);
  Partitions found;
  for (const std::string& name : names) {
    const auto count = admin.partition_count(name, kafka::kBrokerAnswerLimit);
    if (!count && !kafka::is_unknown_topic(count.error())) return count.error();
    found[name] = count ? count.value() : 0;
  }
  return found;
}

// Inputs and changelog have to be equal in number: what exists decides.
Result<std::int32_t> input_partitions(const runtime::Application& application, const Partitions& found) {
  std::int32_t decided = 0;
  std::string by;
  for (const Role role : {Role::kRequests, Role::kCommands, Role::kControl, Role::kChangelog}) {
    const std::string& topic = application.topics.name(application.topics.of(role));
    const std::int32_t count = found.at(topic);
    if (count == 0 || count == decided) continue;
    if (decided != 0) {
      std::string text = "topic " + topic + " exists with " + std::to_string(count) + " partitions, topic ";
      text += by + " with " + std::to_string(decided);
      text += ": they must be equal; delete one of them, or name another topic in the configuration";
      return Error{ErrorClass::kInvalid, 0, std::move(text)};
    }
    decided = count;
    by = topic;
  }
  return decided != 0 ? decided : static_cast<std::int32_t>(application.settings.init_partitions);
}

// What is configured, or as many as lose nothing with one broker, where there are so many.
Result<std::int64_t> replicas_of(kafka::Admin& admin, const config::Settings& s) {
  if (s.init_replication != 0) return s.init_replication;
  const auto brokers = admin.broker_count(kafka::kBrokerAnswerLimit);
  if (!brokers) return brokers.error();
  return std::min<std::int64_t>(kReplicasForTwoInSync, std::max(1, brokers.value()));
}

Error with_rights(Error error, const config::Settings& settings) {
  if (kafka::is_forbidden(error))
    error.message += ": init needs Create and Describe on the topics, which begin with " + settings.application_id +
                     ". unless they are named otherwise";
  return error;
}

}  // namespace

Result<> init(config::Settings settings, Write write) {
  const runtime::Application application(std::move(settings));
  const config::Settings& s = application.settings;
  {
    // Whether brokers can be talked to at all, with a good answer why not.
    auto probe = kafka::open_cluster(runtime::cluster_settings_of(application, std::nullopt));
    if (!probe) return probe.error();
    if (auto id = probe.value()->cluster_id(kafka::kBrokerAnswerLimit); !id) return runtime::with_fix(id.error(), s);
  }
  auto admin = kafka::Admin::open(runtime::connection_of(s));
  if (!admin) return admin.error();
  const auto found = ask_partitions(*admin.value(), application);
  if (!found) return with_rights(found.error(), s);
  const auto inputs = input_partitions(application, found.value());
  if (!inputs) return inputs.error();
  const auto replicas = replicas_of(*admin.value(), s);
  if (!replicas) return replicas.error();
  const std::vector<kafka::TopicSpec> specs = specs_of(application, inputs.value(), replicas.value());
  // One after the other: each has the whole limit, which 500 partitions need, and who waits sees how far it is.
  for (const kafka::TopicSpec& spec : specs) {
    const std::int32_t count = found.value().at(spec.name);
    if (count == 0 && write == Write::kReally)
      if (auto created = admin.value()->create_topics({&spec, 1}, kCreateLimit); !created)
        return with_rights(created.error(), s);
    const char* what = count != 0 ? "exists" : write == Write::kReally ? "created" : "would be created";
    std::printf("%-16s  %s partitions=%d", what, spec.name.c_str(), count != 0 ? count : spec.partitions);
    // Those of a topic that exists are for `check`.
    if (count == 0) std::printf(" replicas=%d", spec.replication);
    std::printf("\n");
    std::fflush(stdout);
  }
  return Done{};
}

}  // namespace reseq::cli
