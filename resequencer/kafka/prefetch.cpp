#include "kafka/prefetch.h"

#include <algorithm>

namespace reseq::kafka {

namespace {

constexpr int kVersionWithSetting = 0x02020000;
constexpr int kAnswerLimitMs = 2;  // the question itself wakes; what it says is not needed
constexpr std::chrono::milliseconds kBetweenWakes{50};

bool has_setting() {
  return rd_kafka_version() >= kVersionWithSetting;
}

}  // namespace

void Prefetch::ask(rd_kafka_t& consumer) {
  if (has_setting()) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_at_ < kBetweenWakes) return;
  asked_at_ = now;
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
  peak_ = std::max(peak_, waiting);
  if (peak_ < 2 * kLookAfter || waiting > peak_ / 2) return;
  peak_ = waiting;
  ask(consumer);
}

}  // namespace reseq::kafka
