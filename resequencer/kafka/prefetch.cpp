#include "kafka/prefetch.h"

namespace reseq::kafka {

namespace {

constexpr int kVersionWithSetting = 0x02020000;
constexpr int kAnswerLimitMs = 20;  // the question itself wakes; what it says is not needed

bool has_setting() {
  return rd_kafka_version() >= kVersionWithSetting;
}

}  // namespace

void Prefetch::ask(rd_kafka_t& consumer) {
  if (has_setting()) return;
  rd_kafka_topic_partition_list_t* assigned = nullptr;
  if (rd_kafka_assignment(&consumer, &assigned) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const PartitionList list(assigned);
  for (int i = 0; i < list->cnt; ++i) list->elems[i].offset = RD_KAFKA_OFFSET_END;
  if (list->cnt != 0) (void)rd_kafka_offsets_for_times(&consumer, list.get(), kAnswerLimitMs);
}

void Prefetch::look(rd_kafka_t& consumer) {
  if (has_setting()) return;
  const QueueHandle queue(rd_kafka_queue_get_consumer(&consumer));
  const std::size_t waiting = rd_kafka_queue_length(queue.get());
  if (waiting >= kMessages) was_full_ = true;
  if (!was_full_ || waiting > kMessages / 2) return;
  was_full_ = false;
  ask(consumer);
}

}  // namespace reseq::kafka
