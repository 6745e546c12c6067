// Opens a Stage on Kafka: a member of a group on `work` and an idempotent producer to `commands`.
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
  StageLimits limits;
};

// kInvalid: a setting is wrong. The group is joined while the stage is polled.
Result<std::unique_ptr<Stage>> open_kafka_stage(const KafkaStageSettings& settings);

}  // namespace reseq::stage
