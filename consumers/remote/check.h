// Check: what a remote sink needs of Kafka, looked at before it runs. Nothing is changed.
// Thread rule: one thread.
#pragma once

#include <string>
#include <vector>

#include "consumers/remote/remote_store.h"
#include "kafka/settings.h"

namespace reseq::remote {

struct KafkaNeeds {
  std::string topic;
  std::string group;
  std::string dead_letter_topic;  // empty: none
};

[[nodiscard]] std::vector<Finding> check_kafka(const kafka::Connection& connection, const KafkaNeeds& needs);

// One line each on stdout; true: all are good.
bool print_findings(const std::vector<Finding>& findings);

}  // namespace reseq::remote
