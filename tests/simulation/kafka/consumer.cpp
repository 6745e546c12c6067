#include "tests/simulation/kafka/consumer.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace reseq::simulation {

namespace {

template <typename To, typename From>
To widened(From from) {
  return std::visit([](auto& one) { return To(std::move(one)); }, from);
}

}  // namespace

SimulatedConsumer::SimulatedConsumer(Broker& broker, const Process& process, const ClientSettings& settings,
                                     kafka::TopicIndex subscribed)
    : broker_(broker),
      process_(process),
      settings_(settings),
      fetcher_(broker, settings.topics),
      polled_at_(broker.now()) {
  subscribed_ = fetcher_.topics().place({subscribed, Partition(0)});
  membership_.instance_id = settings.group_instance_id;
  broker_.add(*this);
}

void SimulatedConsumer::heartbeat() {
  if (process_.paused || closed_ || fenced_ || kicked_ || membership_.member_id.empty() || !polled_in_time()) return;
  switch (broker_.group().heartbeat(membership_, broker_.now())) {
    case GroupAnswer::kGood:
    case GroupAnswer::kIllegalGeneration:
      return;
    case GroupAnswer::kFencedInstance:
      fenced_ = true;
      ++broker_.counters().fenced;
      return;
    case GroupAnswer::kUnknownMember:
      // librdkafka forgets member id and generation at once, whatever the application is doing (finding 2).
      kicked_ = true;
      membership_ = {-1, "", settings_.group_instance_id};
      return;
  }
}

bool SimulatedConsumer::polled_in_time() const {
  return broker_.now().value() - polled_at_.value() <= settings_.max_poll_interval.value();
}

Result<kafka::Polled> SimulatedConsumer::poll(Milliseconds limit) {
  const Fault fault = broker_.faults().next(Call::kPoll, broker_.draw());
  if (fault == Fault::kFatal) return *refusal(fault, "consumer");
  if (!polled_in_time() && !membership_.member_id.empty()) {
    // A static member does not leave: the others wait for its session.
    if (settings_.group_instance_id.empty()) broker_.group().leave(membership_.member_id, broker_.now());
    kicked_ = true;
    membership_ = {-1, "", settings_.group_instance_id};
  }
  polled_at_ = broker_.now();
  heartbeat();
  if (fenced_) return Error{ErrorClass::kFenced, 0, "consumer: another instance has this group.instance.id"};
  // A passing trouble of a consumer is silence.
  if (fault != Fault::kNone || closed_ || !subscribed_) {
    broker_.wait(limit);
    return kafka::Polled(kafka::Nothing{});
  }
  if (auto said = serve_group()) return std::move(*said);
  if (!held_) {
    broker_.wait(limit);
    return kafka::Polled(kafka::Nothing{});
  }
  return widened<kafka::Polled>(fetcher_.fetch(limit));
}

std::optional<kafka::Polled> SimulatedConsumer::serve_group() {
  Group& group = broker_.group();
  if (kicked_) {
    kicked_ = false;
    if (held_) return give_back(true);
  }
  if (membership_.member_id.empty()) join();
  if (group.wants_join(membership_.member_id)) {
    const bool held = held_.has_value();
    auto revoked = give_back(false);
    group.join_again(membership_.member_id);
    if (held) return revoked;
  }
  auto assigned = group.assignment(membership_.member_id);
  if (!assigned || (held_ && membership_.generation == group.generation())) return std::nullopt;
  // A whole rebalance cannot pass by a member that is still in the group: it has to join each one.
  RESEQ_ASSERT(!held_, "assigned while something is held");
  membership_.generation = group.generation();
  held_ = *assigned;
  broker_.journal().note("assigned", membership_.generation, assigned->size());
  return kafka::Assigned{std::move(*assigned), group_now()};
}

void SimulatedConsumer::join() {
  const auto partitions = broker_.facts(subscribed_->topic).partitions;
  membership_.member_id = broker_.group().join(settings_.group_instance_id, partitions, settings_.session_timeout,
                                               settings_.max_poll_interval, broker_.now());
  broker_.journal().note("join");
}

kafka::Revoked SimulatedConsumer::give_back(bool lost) {
  fetcher_.assign({});
  kafka::Revoked revoked{std::exchange(held_, std::nullopt).value_or(std::vector<Partition>()), lost};
  broker_.journal().note("revoked", lost, revoked.partitions.size());
  return revoked;
}

Result<> SimulatedConsumer::assign(std::span<const kafka::TopicPartitionOffset> positions) {
  if (auto refused = refusal(broker_.faults().next(Call::kAssign, broker_.draw()), "assign")) {
    broker_.wait(kAssignLimit);
    return *refused;
  }
  for (const auto& one : positions) {
    RESEQ_ASSERT(one.offset.value() >= 0, "a position is an explicit offset");
    RESEQ_ASSERT(held_ && std::find(held_->begin(), held_->end(), one.where.partition) != held_->end(),
                 "a partition is read that does not belong to this member");
  }
  fetcher_.assign(positions);
  return Done{};
}

Result<std::vector<kafka::TopicPartitionOffset>> SimulatedConsumer::committed(
    std::span<const kafka::TopicPartition> which, Milliseconds limit) {
  if (auto refused = refusal(broker_.faults().next(Call::kCommitted, broker_.draw()), "committed offsets")) {
    broker_.wait(limit);
    return *refused;
  }
  std::vector<kafka::TopicPartitionOffset> answer;
  for (const kafka::TopicPartition where : which) {
    const auto place = fetcher_.topics().place(where);
    if (!place) return Error{ErrorClass::kInvalid, 0, "committed offsets: there is no such topic"};
    if (!broker_.group().stable(*place)) {
      ++broker_.counters().unstable_answers;
      broker_.wait(limit);
      return Error{ErrorClass::kTimeout, 0, "committed offsets: a transaction is open that would change them"};
    }
    answer.push_back({where, broker_.group().committed(*place)});
  }
  return answer;
}

Result<std::vector<kafka::TopicPartitionOffset>> SimulatedConsumer::begins(std::span<const kafka::TopicPartition> which,
                                                                           Milliseconds limit) {
  return fetcher_.bounds(which, Bound::kBegin, limit);
}

Result<std::vector<kafka::TopicPartitionOffset>> SimulatedConsumer::stable_ends(
    std::span<const kafka::TopicPartition> which, Milliseconds limit) {
  return fetcher_.bounds(which, Bound::kLastStable, limit);
}

std::optional<Offset> SimulatedConsumer::known_end(kafka::TopicPartition where) const {
  const auto place = fetcher_.topics().place(where);
  const Log* log = place ? broker_.find_log(*place) : nullptr;
  return log ? std::optional(log->high_watermark()) : std::nullopt;
}

std::shared_ptr<const kafka::GroupMetadata> SimulatedConsumer::group_now() {
  return std::make_shared<const SimulatedGroupMetadata>(membership_);
}

void SimulatedConsumer::close(Milliseconds) {
  if (std::exchange(closed_, true)) return;
  fetcher_.assign({});
  if (settings_.group_instance_id.empty() && !membership_.member_id.empty())
    broker_.group().leave(membership_.member_id, broker_.now());
}

}  // namespace reseq::simulation
