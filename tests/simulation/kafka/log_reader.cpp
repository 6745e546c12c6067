#include "tests/simulation/kafka/log_reader.h"

namespace reseq::simulation {

Result<> SimulatedLogReader::assign(std::span<const kafka::TopicPartitionOffset> positions) {
  if (auto refused = refusal(broker_.faults().next(Call::kAssign, broker_.draw()), "assign")) {
    broker_.wait(kAssignLimit);
    return *refused;
  }
  fetcher_.assign(positions);
  return Done{};
}

Result<kafka::LogPolled> SimulatedLogReader::poll(Milliseconds limit) {
  const Fault fault = broker_.faults().next(Call::kPoll, broker_.draw());
  if (fault == Fault::kFatal) return *refusal(fault, "poll");
  // A passing trouble of a consumer is silence.
  if (fault != Fault::kNone) {
    broker_.wait(limit);
    return kafka::LogPolled(kafka::Nothing{});
  }
  return fetcher_.fetch(limit);
}

Result<std::vector<kafka::TopicPartitionOffset>> SimulatedLogReader::begins(
    std::span<const kafka::TopicPartition> which, Milliseconds limit) {
  return fetcher_.bounds(which, Bound::kBegin, limit);
}

Result<std::vector<kafka::TopicPartitionOffset>> SimulatedLogReader::stable_ends(
    std::span<const kafka::TopicPartition> which, Milliseconds limit) {
  return fetcher_.bounds(which, Bound::kLastStable, limit);
}

Result<std::vector<kafka::TopicPartitionOffset>> SimulatedLogReader::high_watermarks(
    std::span<const kafka::TopicPartition> which, Milliseconds limit) {
  return fetcher_.bounds(which, Bound::kHighWatermark, limit);
}

}  // namespace reseq::simulation
