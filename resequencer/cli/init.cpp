#include "cli/init.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/topic_specs.h"
#include "kafka/admin.h"
#include "kafka/error_questions.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/application/application.h"
#include "runtime/application/clients.h"

namespace reseq::cli {

namespace {

constexpr Milliseconds kCreateLimit{60'000};

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
  const std::vector<kafka::TopicSpec> specs = topic_specs(application, inputs.value(), replicas.value());
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
