// Opens a Stage on Kafka: a member of a group on `work`, and a producer to `commands` that is idempotent or
// transactional.
// Thread rule: any thread; the stage belongs to one.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "consumers/stage/stage.h"
#include "kafka/settings.h"

namespace reseq::stage {

struct KafkaStageSettings {
  kafka::Connection connection;
  std::string group;
  std::string work_topic;
  std::string commands_topic;
  // How keys choose the partition of `commands`: murmur2 or crc32, as the application is configured.
  std::string partitioner = "murmur2";
  StageLimits limits;
  // How long a stage that died or stands still keeps its partitions.
  Milliseconds session_timeout{10'000};
  // Not empty: results and offsets go in transactions, each result is in `commands` exactly once. It is the name of
  // this stage in its group: no two that run at the same time have the same, and a stage keeps it over restarts. The
  // stage is then a static member: when it is gone for good, the others get its partitions after the session timeout.
  std::string transactional_instance = {};
};

// Asks the brokers how large a record of `commands` may be (DescribeConfigs), and waits for their answer, 30 s at most.
// kInvalid: a setting is wrong, such as a commit on receipt together with transactions, or there is no such topic. The
// group is joined while the stage is polled.
Result<std::unique_ptr<Stage>> open_kafka_stage(const KafkaStageSettings& settings);

}  // namespace reseq::stage
