#include "consumers/stage/transactional_stage.h"

#include <utility>

#include "consumers/stage/transactional_reader.h"
#include "consumers/stage/transactional_sender.h"

namespace reseq::stage {

Result<std::unique_ptr<Stage>> open_transactional_stage(std::shared_ptr<kafka::Cluster> cluster, StageLimits limits,
                                                        LeaseKeeping leases) {
  Result<std::unique_ptr<kafka::Consumer>> consumer = cluster->consumer(kWorkTopic);
  if (!consumer) return consumer.error();
  auto sender = std::make_unique<TransactionalSender>(std::move(cluster));
  auto reader = std::make_unique<TransactionalReader>(std::move(consumer).value(), *sender);
  return std::make_unique<Stage>(std::move(reader), std::move(sender), limits, std::move(leases));
}

}  // namespace reseq::stage
