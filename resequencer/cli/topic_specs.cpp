#include "cli/topic_specs.h"

#include <string>
#include <utility>

namespace reseq::cli {

namespace {

// What we add to a record on its way to work or dead-letter is below this.
constexpr std::int64_t kOwnHeaderBytes = 64 * 1024;
constexpr const char* kSevenDays = "604800000";
constexpr const char* kOneHour = "3600000";
constexpr const char* kChangelogSegmentBytes = "67108864";  // docs/decisions/0160

}  // namespace

std::vector<kafka::TopicSpec> topic_specs(const runtime::Application& application, std::int64_t inputs,
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
  // Seven days: longer than an instance is likely to be away. A segment that is written to is never compacted.
  add(of(Role::kChangelog), inputs,
      {{"cleanup.policy", "compact"},
       {"delete.retention.ms", kSevenDays},
       {"min.compaction.lag.ms", "60000"},
       {"segment.bytes", kChangelogSegmentBytes},
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

}  // namespace reseq::cli
