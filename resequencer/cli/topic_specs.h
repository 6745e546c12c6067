// The topics of an application as init creates them: partitions, replicas, configuration.
// Thread rule: plain functions.
#pragma once

#include <cstdint>
#include <vector>

#include "kafka/admin.h"
#include "runtime/application/application.h"

namespace reseq::cli {

// With so many one broker may fail without losing what was acknowledged, and without stopping.
constexpr std::int64_t kReplicasForTwoInSync = 3;

// `inputs`: partitions of the inputs, and of what is partitioned like them.
std::vector<kafka::TopicSpec> topic_specs(const runtime::Application& application, std::int64_t inputs,
                                          std::int64_t replicas);

}  // namespace reseq::cli
