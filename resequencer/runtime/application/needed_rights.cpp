#include "runtime/application/needed_rights.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kafka/error_questions.h"
#include "runtime/application/clients.h"

namespace reseq::runtime {

namespace {

using kafka::Operation;
using kafka::Resource;
using kafka::Right;

// A transactional id of ours that no worker has: theirs go on with instance and number.
constexpr const char* kTransactionalIdOfNobody = ".check";

std::string prefix_of(const config::Settings& settings) {
  return settings.application_id + ".";
}

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::kRead:
      return "Read";
    case Operation::kWrite:
      return "Write";
    case Operation::kDescribeConfigs:
      return "DescribeConfigs";
  }
  return "";
}

bool is_of_nobody(const Right& right, const config::Settings& settings) {
  return right.name == settings.application_id + kTransactionalIdOfNobody;
}

std::string text_of(const Right& right, const config::Settings& settings) {
  const std::string operation = name_of(right.operation);
  switch (right.resource) {
    case Resource::kTopic:
      return operation + " on topic " + right.name;
    case Resource::kGroup:
      return operation + " on group " + right.name;
    case Resource::kTransactionalId:
      if (!is_of_nobody(right, settings)) return operation + " on transactional id " + right.name;
      return operation + " on transactional ids that begin with " + prefix_of(settings);
  }
  return "";
}

// For a shell, in quotes where it needs them.
std::string quoted(const std::string& word) {
  const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-:,/@").find(c) != std::string_view::npos;
  });
  if (plain && !word.empty()) return word;
  std::string inside;
  for (const char c : word) inside += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + inside + "'";
}

// Whom the brokers take us for: with a password the user, with a certificate something only they know.
std::string principal_of(const config::Settings& settings) {
  for (const auto& [name, value] : settings.kafka)
    if (name == "sasl.username") return "User:" + value;
  return "User:NAME";
}

std::string command_for(const Right& right, const config::Settings& settings) {
  std::string resource;
  switch (right.resource) {
    case Resource::kTopic:
      resource = "--topic " + quoted(right.name);
      break;
    case Resource::kGroup:
      resource = "--group " + quoted(right.name);
      break;
    case Resource::kTransactionalId:
      resource = is_of_nobody(right, settings)
                     ? "--transactional-id " + quoted(prefix_of(settings)) + " --resource-pattern-type prefixed"
                     : "--transactional-id " + quoted(right.name);
      break;
  }
  return "kafka-acls.sh --bootstrap-server " + quoted(settings.bootstrap_servers) +
         " --command-config admin.properties --add --allow-principal " + quoted(principal_of(settings)) +
         " --operation " + name_of(right.operation) + " " + resource;
}

}  // namespace

std::vector<Right> needed_rights(const Application& application, const TopicAnswers& answers) {
  std::vector<Right> needed;
  const auto need = [&](kafka::TopicIndex topic, Operation operation) {
    const auto& answer = answers[topic.value()];
    if (answer || kafka::is_forbidden(answer.error()))
      needed.push_back({Resource::kTopic, application.topics.name(topic), operation});
  };
  const Topics& topics = application.topics;
  for (std::size_t i = 0; i < topics.names().size(); ++i) {
    const kafka::TopicIndex topic(static_cast<std::uint16_t>(i));
    const bool is_input =
        std::any_of(kInputs.begin(), kInputs.end(), [&](Role role) { return topics.of(role) == topic; });
    if (is_input || topic == topics.of(Role::kChangelog)) need(topic, Operation::kRead);
    if (!is_input) need(topic, Operation::kWrite);
    need(topic, Operation::kDescribeConfigs);
  }
  const std::string& application_id = application.settings.application_id;
  needed.push_back({Resource::kGroup, application_id, Operation::kRead});
  needed.push_back({Resource::kTransactionalId, application_id + kTransactionalIdOfNobody, Operation::kWrite});
  return needed;
}

std::vector<Right> admin_rights(const Application& application) {
  return {{Resource::kTopic, application.settings.topic_admin_requests, Operation::kRead},
          {Resource::kTopic, application.settings.topic_admin_replies, Operation::kWrite}};
}

std::vector<Right> own_transactional_ids(const Application& application) {
  std::vector<Right> rights;
  for (std::int64_t worker = 0; worker < application.settings.workers; ++worker)
    rights.push_back(
        {Resource::kTransactionalId, cluster_settings_of(application, worker).transactional_id, Operation::kWrite});
  return rights;
}

std::vector<Finding> judge_rights(const config::Settings& settings, std::span<const kafka::RightAnswer> answers) {
  std::vector<Finding> found;
  for (const kafka::RightAnswer& answer : answers) {
    const std::string right = text_of(answer.right, settings);
    if (answer.granted == kafka::Granted::kNo)
      found.push_back({Severity::kError, right + " is not granted to this user: grant it with `" +
                                             command_for(answer.right, settings) + "`"});
    if (answer.granted == kafka::Granted::kUnknown)
      found.push_back({Severity::kWarning, "whether " + right + " is granted to this user cannot be found out: " +
                                               answer.why + "; run `resequencer check` again"});
  }
  return found;
}

}  // namespace reseq::runtime
