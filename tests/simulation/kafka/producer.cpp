#include "tests/simulation/kafka/producer.h"

#include <utility>

#include "base/assert.h"
#include "codec/hash.h"
#include "tests/simulation/kafka/consumer.h"

namespace reseq::simulation {

namespace {

std::optional<std::string> copied(const std::optional<std::string_view>& bytes) {
  if (!bytes) return std::nullopt;
  return std::string(*bytes);
}

std::vector<StoredHeader> edited_headers(const kafka::OutgoingRecord& record) {
  std::vector<StoredHeader> headers;
  for (const Header& one : record.headers) headers.push_back({std::string(one.name), copied(one.value)});
  if (record.headers_from != nullptr)
    for (const Header& one : record.headers_from->headers)
      headers.push_back({std::string(one.name), copied(one.value)});
  for (const HeaderEdit& edit : record.edits) {
    std::erase_if(headers, [&](const StoredHeader& one) { return one.name == edit.name; });
    if (edit.value) headers.push_back({std::string(edit.name), copied(edit.value)});
  }
  return headers;
}

Error fenced(const char* what) {
  return {ErrorClass::kFenced, 0, std::string(what) + ": another instance has this transactional.id"};
}

Error invalid_state(const char* what) {
  return {ErrorClass::kFatal, 0, std::string(what) + ": the broker knows no such transaction"};
}

}  // namespace

Error SimulatedProducer::fail(Error error) {
  failed_ = error;
  return error;
}

Error SimulatedProducer::not_answered(ErrorClass kind, const char* what, Milliseconds limit) {
  in_doubt_ = true;
  broker_.wait(limit);
  return {kind, 0, std::string(what) + ": no answer yet"};
}

Result<> SimulatedProducer::usable(Call call, const char* what, Milliseconds limit) {
  if (failed_) return *failed_;
  const Fault fault = broker_.faults().next(call, broker_.draw());
  auto refused = refusal(fault, what);
  if (!refused) return Done{};
  if (fault == Fault::kFatal) return fail(*refused);
  broker_.wait(limit);
  return *refused;
}

Result<> SimulatedProducer::init(Milliseconds limit) {
  RESEQ_ASSERT(!open_, "init inside of a transaction");
  if (auto good = usable(Call::kInit, "init transactions", limit); !good) return good;
  const auto answer = broker_.transactions().init(settings_.transactional_id, settings_.transaction_timeout, who_);
  broker_.journal().note("init", static_cast<int>(answer), who_.id.value(), who_.epoch);
  if (answer == TransactionAnswer::kGood) return Done{};
  broker_.wait(limit);
  return Error{ErrorClass::kTimeout, 0, "init transactions: the transaction of the instance before is not over yet"};
}

Result<> SimulatedProducer::begin() {
  RESEQ_ASSERT(who_.id != kNoProducer, "begin before init");
  RESEQ_ASSERT(!open_, "a transaction is open already");
  if (auto good = usable(Call::kBegin, "begin transaction", Milliseconds(0)); !good) return good;
  if (in_doubt_) ++broker_.counters().begins_in_doubt;
  undelivered_.reset();
  added_.clear();
  offsets_added_ = false;
  open_ = true;
  transaction_ = broker_.new_transaction();
  broker_.set_current(who_.id, transaction_);
  return Done{};
}

Partition SimulatedProducer::partition_of(const kafka::OutgoingRecord& record, std::size_t topic) {
  const std::int32_t partitions = broker_.facts(topic).partitions;
  if (record.partition) return *record.partition;
  if (record.key) return codec::partition_of(*record.key, Partitioner::kMurmur2, partitions);
  return Partition(static_cast<std::int32_t>(broker_.draw().below(static_cast<std::uint64_t>(partitions))));
}

Result<> SimulatedProducer::produce(const kafka::OutgoingRecord& record) {
  RESEQ_ASSERT(open_, "produce outside of a transaction");
  if (auto good = usable(Call::kProduce, "produce", Milliseconds(0)); !good) return good;
  if (undelivered_) return *undelivered_;
  auto place = topics_.place({record.topic, Partition(0)});
  if (!place) return Error{ErrorClass::kInvalid, 0, "produce: there is no such topic"};
  place->partition = partition_of(record, place->topic);
  if (broker_.find_log(*place) == nullptr) return Error{ErrorClass::kInvalid, 0, "produce: no such partition"};
  Queued queued{*place,
                {record.topic, place->partition},
                record.partition.has_value(),
                record.key,
                record.payload,
                edited_headers(record),
                record.timestamp};
  if (queued.timestamp == UnixMs()) queued.timestamp = broker_.now();
  const std::uint64_t size = size_of({std::nullopt, std::nullopt, queued.headers, {}}) +
                             (record.key ? record.key->size() : 0) + (record.payload ? record.payload->size() : 0);
  if (size > broker_.facts(place->topic).max_message_bytes)
    return Error{ErrorClass::kInvalid, 0, "produce: the record is larger than its topic allows"};
  if (record.headers_from != nullptr) record.headers_from->headers.clear();
  if (queued.explicit_partition) delivered_.erase(queued.where);
  queue_.push_back(std::move(queued));
  // The thread that sends does not wait for flush().
  if (broker_.draw().chance(broker_.settings().early_per_mille)) (void)send();
  return Done{};
}

void SimulatedProducer::poll(Milliseconds limit) {
  if (!failed_) (void)send();
  broker_.wait(limit);
}

Result<> SimulatedProducer::send() {
  std::size_t sent = 0;
  Result<> outcome = Done{};
  for (Queued& one : queue_) {
    auto answer = TransactionAnswer::kGood;
    if (!added_.contains(one.place)) {
      answer = broker_.transactions().add(who_, one.place, broker_.now());
      if (answer == TransactionAnswer::kGood) added_.insert(one.place);
    }
    Offset at = kNoOffset;
    if (answer == TransactionAnswer::kGood)
      answer = broker_.append(who_, one.place, {copied(one.key), copied(one.payload), one.headers, one.timestamp}, at);
    if (answer == TransactionAnswer::kConcurrent) {
      outcome = Error{ErrorClass::kTimeout, 0, "flush: the transaction before is not over yet"};
      break;
    }
    ++sent;
    // A producer that was replaced loses its records without a word: the next call to the coordinator tells.
    if (answer == TransactionAnswer::kInvalidState)
      undelivered_ = Error{ErrorClass::kAbort, 0, "record not delivered: its transaction is over"};
    if (answer == TransactionAnswer::kGood && one.explicit_partition) delivered_[one.where] = at;
  }
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(sent));
  return outcome;
}

Result<> SimulatedProducer::flush(Milliseconds limit) {
  if (auto good = usable(Call::kFlush, "flush", limit); !good) return good;
  auto sent = send();
  if (undelivered_) return *undelivered_;
  if (!sent) broker_.wait(limit);
  return sent;
}

Result<> SimulatedProducer::send_offsets(std::span<const kafka::TopicPartitionOffset> next,
                                         const kafka::GroupMetadata& group, Milliseconds limit) {
  RESEQ_ASSERT(open_ && !next.empty(), "offsets of a transaction");
  const Membership& member = static_cast<const SimulatedGroupMetadata&>(group).membership();
  if (broker_.settings().refuse_without_generation && (member.generation < 0 || member.member_id.empty()))
    return Error{ErrorClass::kAbort, 0, "send offsets: the membership in the group has no generation or member id"};
  if (auto flushed = flush(limit); !flushed) return flushed;
  if (auto good = usable(Call::kSendOffsets, "send offsets", limit); !good) {
    in_doubt_ = true;
    return good;
  }
  std::vector<PlaceOffset> offsets;
  for (const auto& one : next) {
    RESEQ_ASSERT(one.offset.value() >= 0, "an invalid offset is skipped without an error");
    const auto place = topics_.place(one.where);
    RESEQ_ASSERT(place, "an offset of a topic that does not exist");
    offsets.push_back({*place, one.offset});
  }
  switch (broker_.transactions().add_offsets(who_, broker_.now())) {
    case TransactionAnswer::kGood:
      offsets_added_ = true;
      break;
    case TransactionAnswer::kConcurrent:
      return not_answered(ErrorClass::kRetriable, "send offsets", limit);
    case TransactionAnswer::kFenced:
      ++broker_.counters().fenced;
      return fail(fenced("send offsets"));
    case TransactionAnswer::kInvalidState:
      return fail(invalid_state("send offsets"));
  }
  const GroupAnswer answer = broker_.group().commit(who_.id, member, offsets);
  broker_.journal().note("offsets", who_.id.value(), static_cast<int>(answer), offsets.size());
  if (answer == GroupAnswer::kGood) return Done{};
  if (answer == GroupAnswer::kFencedInstance) ++broker_.counters().fenced;
  return Error{ErrorClass::kAbort, 0, "send offsets: the member or its generation is not the current one"};
}

Result<> SimulatedProducer::commit(Milliseconds limit) {
  RESEQ_ASSERT(open_ || failed_, "commit outside of a transaction");
  if (auto flushed = flush(limit); !flushed) return flushed;
  return finish(Call::kCommit, Fate::kCommitted, limit);
}

Result<> SimulatedProducer::abort(Milliseconds limit) {
  RESEQ_ASSERT(open_ || failed_, "abort outside of a transaction");
  if (failed_) return *failed_;
  // What was not delivered does not matter any more, but nothing may be on its way.
  if (auto sent = send(); !sent) return not_answered(ErrorClass::kTimeout, "abort: flush", limit);
  return finish(Call::kAbort, Fate::kAborted, limit);
}

Result<> SimulatedProducer::finish(Call call, Fate fate, Milliseconds limit) {
  if (failed_) return *failed_;
  const char* what = call == Call::kCommit ? "commit" : "abort";
  const Fault fault = broker_.faults().next(call, broker_.draw());
  switch (fault) {
    case Fault::kNone:
      break;
    case Fault::kRetriable:
      return not_answered(ErrorClass::kRetriable, what, limit);
    case Fault::kTimeout:
      return not_answered(ErrorClass::kTimeout, what, limit);
    case Fault::kUnanswered:
      if (auto ended = end(fate, what); !ended && failed_) return ended;
      return not_answered(ErrorClass::kTimeout, what, limit);
    case Fault::kLate:
      broker_.arrive_late(who_, fate, transaction_);
      return not_answered(ErrorClass::kTimeout, what, limit);
    case Fault::kRepeated:
      broker_.arrive_late(who_, fate, transaction_);
      in_doubt_ = true;
      break;
    case Fault::kFatalHappened:
      (void)end(fate, what);
      return fail({ErrorClass::kFatal, 0, std::string(what) + ": the client has failed"});
    case Fault::kFatal:
      return fail(*refusal(fault, what));
  }
  auto ended = end(fate, what);
  if (ended) {
    open_ = false;
    if (fate == Fate::kCommitted) broker_.wait(broker_.settings().commit_takes);
  } else if (!failed_) {
    return not_answered(ErrorClass::kTimeout, what, limit);
  }
  return ended;
}

Result<> SimulatedProducer::end(Fate fate, const char* what) {
  // Nothing was registered: librdkafka does not even ask.
  if (added_.empty() && !offsets_added_) return Done{};
  switch (broker_.end(who_, fate)) {
    case TransactionAnswer::kGood:
      return Done{};
    case TransactionAnswer::kConcurrent:
      return Error{ErrorClass::kTimeout, 0, std::string(what) + ": its markers are on their way"};
    case TransactionAnswer::kFenced:
      return fail(fenced(what));
    case TransactionAnswer::kInvalidState:
      return fail(invalid_state(what));
  }
  return Done{};
}

std::optional<Offset> SimulatedProducer::delivered(kafka::TopicPartition where) const {
  for (const Queued& one : queue_)
    if (one.explicit_partition && one.where == where) return std::nullopt;
  const auto found = delivered_.find(where);
  if (found == delivered_.end()) return std::nullopt;
  return found->second;
}

}  // namespace reseq::simulation
