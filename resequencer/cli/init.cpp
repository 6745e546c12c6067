#include "cli/init.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "kafka/admin.h"
#include "kafka/error_questions.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application.h"
#include "runtime/clients.h"

namespace reseq::cli {

namespace {

constexpr Milliseconds kAskLimit{10'000};
constexpr Milliseconds kCreateLimit{60'000};
// What we add to a record on its way to work or dead-letter is below this (DESIGN 7).
constexpr std::int64_t kOwnHeaderBytes = 64 * 1024;
constexpr std::int64_t kReplicasForTwoInSync = 3;
constexpr const char* kSevenDays = "604800000";

// `inputs`: partitions of the inputs, and of what is partitioned like them.
std::vector<kafka::TopicSpec> specs_of(const runtime::Application& application, std::int64_t inputs) {
  const config::Settings& s = application.settings;
  const runtime::Topics& topics = application.topics;
  const std::string input_bytes = std::to_string(s.init_max_message_bytes);
  const std::string output_bytes = std::to_string(s.init_max_message_bytes + kOwnHeaderBytes);
  std::vector<kafka::TopicSpec> specs;
  // One broker may fail without losing what was acknowledged, and without stopping (RELIABILITY C24).
  const bool replicated = s.init_replication >= kReplicasForTwoInSync;
  const auto add = [&](kafka::TopicIndex topic, std::int64_t partitions, kafka::Properties configs) {
    if (replicated) configs.emplace_back("min.insync.replicas", "2");
    specs.push_back({topics.name(topic), static_cast<std::int32_t>(partitions),
                     static_cast<std::int32_t>(s.init_replication), std::move(configs)});
  };
  // A request must not outlive the memory of its document (topic_rules.h); results are needed while an outage lasts.
  const std::string remembered = std::to_string(s.watermark_retention_ms);
  for (const Role role : runtime::kInputs)
    add(topics.of(role), inputs,
        {{"cleanup.policy", "delete"},
         {"retention.ms", role == Role::kRequests ? remembered : std::string(kSevenDays)},
         {"max.message.bytes", input_bytes}});
  add(topics.of(Role::kWork), s.init_work_partitions, {{"max.message.bytes", output_bytes}});
  add(topics.of(Role::kDeadLetter), inputs, {{"cleanup.policy", "delete"}, {"max.message.bytes", output_bytes}});
  add(topics.of(Role::kEvents), inputs, {{"cleanup.policy", "delete"}});
  // Seven days: longer than an instance is likely to be away (RELIABILITY C22).
  add(topics.of(Role::kChangelog), inputs,
      {{"cleanup.policy", "compact"},
       {"delete.retention.ms", kSevenDays},
       {"min.compaction.lag.ms", "60000"},
       {"unclean.leader.election.enable", "false"}});
  for (std::size_t i = 0; i < s.targets.size(); ++i)
    add(topics.output(i), s.init_output_partitions, {{"max.message.bytes", output_bytes}});
  if (topics.missing() != topics.of(Role::kDeadLetter))
    add(topics.missing(), inputs, {{"max.message.bytes", output_bytes}});
  return specs;
}

// How many partitions each topic has, by topic index; 0 = it does not exist.
Result<std::vector<std::int32_t>> ask_partitions(kafka::Admin& admin, const runtime::Topics& topics) {
  std::vector<std::int32_t> found;
  for (const std::string& name : topics.names()) {
    const auto count = admin.partition_count(name, kAskLimit);
    if (!count && !kafka::is_unknown_topic(count.error())) return count.error();
    found.push_back(count ? count.value() : 0);
  }
  return found;
}

// Inputs and changelog have to be equal in number: what exists decides.
Result<std::int32_t> input_partitions(const runtime::Application& application, const std::vector<std::int32_t>& found) {
  std::int32_t decided = 0;
  std::string by;
  for (const Role role : {Role::kRequests, Role::kCommands, Role::kControl, Role::kChangelog}) {
    const kafka::TopicIndex topic = application.topics.of(role);
    const std::int32_t count = found[topic.value()];
    if (count == 0 || count == decided) continue;
    if (decided != 0)
      return Error{ErrorClass::kInvalid, 0,
                   "topic " + application.topics.name(topic) + " exists with " + std::to_string(count) +
                       " partitions, topic " + by + " with " + std::to_string(decided) +
                       ": they must be equal; delete one of them, or name another topic in the configuration"};
    decided = count;
    by = application.topics.name(topic);
  }
  return decided != 0 ? decided : static_cast<std::int32_t>(application.settings.init_partitions);
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
    if (auto id = probe.value()->cluster_id(kAskLimit); !id) return runtime::with_fix(id.error(), s);
  }
  auto admin = kafka::Admin::open(runtime::connection_of(s));
  if (!admin) return admin.error();
  const auto found = ask_partitions(*admin.value(), application.topics);
  if (!found) return with_rights(found.error(), s);
  const auto inputs = input_partitions(application, found.value());
  if (!inputs) return inputs.error();
  const std::vector<kafka::TopicSpec> specs = specs_of(application, inputs.value());
  std::vector<kafka::TopicSpec> missing;
  for (const kafka::TopicSpec& spec : specs)
    if (found.value()[application.topics.index_of(spec.name).value()] == 0) missing.push_back(spec);
  if (write == Write::kReally)
    if (auto created = admin.value()->create_topics(missing, kCreateLimit); !created)
      return with_rights(created.error(), s);
  for (const kafka::TopicSpec& spec : specs) {
    const std::int32_t count = found.value()[application.topics.index_of(spec.name).value()];
    const char* what = count != 0 ? "exists" : write == Write::kReally ? "created" : "would be created";
    std::printf("%-16s  %s partitions=%d\n", what, spec.name.c_str(), count != 0 ? count : spec.partitions);
  }
  return Done{};
}

}  // namespace reseq::cli
