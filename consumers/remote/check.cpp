#include "consumers/remote/check.h"

#include <cstdio>

#include "base/log.h"
#include "kafka/admin.h"
#include "kafka/error_questions.h"
#include "kafka/rights.h"

namespace reseq::remote {
namespace {

constexpr Milliseconds kLimit{10'000};

std::string words_of(const kafka::Right& right) {
  if (right.operation == kafka::Operation::kDescribeConfigs)
    return "may ask for the configuration of topic " + right.name;
  const bool writes = right.operation == kafka::Operation::kWrite;
  return std::string(writes ? "may write " : "may read ") +
         (right.resource == kafka::Resource::kGroup ? "as group " : "topic ") + right.name;
}

Finding finding_of(const kafka::RightAnswer& answer) {
  Finding finding{.good = answer.granted == kafka::Granted::kYes, .what = words_of(answer.right), .to_do = {}};
  if (answer.granted == kafka::Granted::kNo) finding.to_do = "add an ACL that allows it to this user";
  if (answer.granted == kafka::Granted::kUnknown) finding.to_do = "it cannot be told: " + answer.why;
  return finding;
}

}  // namespace

std::vector<Finding> check_kafka(const kafka::Connection& connection, const KafkaNeeds& needs) {
  std::vector<Finding> findings;
  auto admin = kafka::Admin::open(connection);
  if (!admin) return {{false, "the connection to Kafka can be set up", admin.error().message}};
  std::vector<std::string> topics = {needs.topic};
  if (!needs.dead_letter_topic.empty()) topics.push_back(needs.dead_letter_topic);
  for (const std::string& topic : topics) {
    auto count = admin.value()->partition_count(topic, kLimit);
    std::string to_do = count ? "" : count.error().message;
    if (!count && topic == needs.dead_letter_topic && kafka::is_unknown_topic(count.error()))
      to_do = "run: kafka-topics.sh --bootstrap-server ... --create --topic " + topic +
              " --partitions 1, or say --dead-letters skip";
    findings.push_back({count.ok(), "topic " + topic + " exists", to_do});
  }
  std::vector<kafka::Right> rights = {{kafka::Resource::kTopic, needs.topic, kafka::Operation::kRead},
                                      {kafka::Resource::kGroup, needs.group, kafka::Operation::kRead}};
  if (!needs.dead_letter_topic.empty())  // the start asks how large its records may be
    for (const kafka::Operation operation : {kafka::Operation::kWrite, kafka::Operation::kDescribeConfigs})
      rights.push_back({kafka::Resource::kTopic, needs.dead_letter_topic, operation});
  for (const Finding& finding : findings)
    if (!finding.good) return findings;
  auto answers = kafka::ask_rights(connection, rights, kLimit);
  if (!answers) {
    findings.push_back({false, "rights can be asked for", answers.error().message});
    return findings;
  }
  for (const kafka::RightAnswer& answer : answers.value()) findings.push_back(finding_of(answer));
  return findings;
}

bool print_findings(const std::vector<Finding>& findings) {
  bool all_good = true;
  for (const Finding& finding : findings) {
    all_good = all_good && finding.good;
    std::printf("%-8s %s\n", finding.good ? "good" : "missing", log::one_line(finding.what).c_str());
    if (!finding.good && !finding.to_do.empty()) std::printf("         %s\n", log::one_line(finding.to_do).c_str());
  }
  return all_good;
}

}  // namespace reseq::remote
