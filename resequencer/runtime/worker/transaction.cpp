#include "runtime/worker/transaction.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "runtime/application/clients.h"

namespace reseq::runtime {

namespace {

// A call waits this long before the worker looks at the time limit of the whole transaction.
constexpr Milliseconds kSlice{1000};
constexpr Milliseconds kRoomLimit{50};
// Parts of the transaction's time-out: the second one is there to flush and commit what was decided in the first.
constexpr std::int64_t kDecidingPart = 4;
constexpr std::int64_t kLatePart = 2;

bool unchanged(const PartitionTask& task, const InputPosition& position) {
  if (!task.store().meta()) return false;
  const auto& last = task.store().meta()->positions;
  return std::find(last.begin(), last.end(), position) != last.end();
}

Failpoint in_front_of(Step step) {
  static constexpr std::array<Failpoint, 9> kPoints = {
      Failpoint::kTransactionDecide,  Failpoint::kTransactionEncode, Failpoint::kTransactionBegin,
      Failpoint::kTransactionProduce, Failpoint::kTransactionFlush,  Failpoint::kTransactionSendOffsets,
      Failpoint::kTransactionCommit,  Failpoint::kTransactionApply,  Failpoint::kTransactionAbort};
  return kPoints[static_cast<std::size_t>(step)];
}

}  // namespace

std::string_view name_of(Step step) {
  static constexpr std::array<std::string_view, 10> kNames = {"decide",       "encode", "begin", "produce", "flush",
                                                              "send_offsets", "commit", "apply", "abort",   "end"};
  return kNames[static_cast<std::size_t>(step)];
}

Transaction::Transaction(const Application& application, kafka::Producer& producer, kafka::Consumer& consumer,
                         const Clock& clock, std::shared_ptr<const kafka::GroupMetadata> group,
                         const std::vector<Participant>& participants, std::optional<UnixMs> deadlines_at,
                         const std::function<HashKey()>& draw_key)
    : application_(application),
      producer_(producer),
      consumer_(consumer),
      clock_(clock),
      group_(std::move(group)),
      draw_key_(draw_key),
      now_(clock.now()),
      started_(clock.steady()) {
  // As much as inputs have: neither starves the other.
  left_.bytes = static_cast<std::uint64_t>(application.settings.batch_bytes_max);
  for (const Participant& one : participants) {
    batches_.push_back(std::make_unique<PartitionBatch>(application, *one.task, now_, deadlines_at, left_));
    if (one.heartbeat) batches_.back()->write_heartbeat();
  }
}

void Transaction::step() {
  if (next_ != Step::kEnd) failpoint(in_front_of(next_));
  switch (next_) {
    case Step::kDecide:
      return decide();
    case Step::kEncode:
      return encode();
    case Step::kBegin:
      return begin();
    case Step::kProduce:
      return produce();
    case Step::kFlush:
      return flush();
    case Step::kSendOffsets:
      return send_offsets();
    case Step::kCommit:
      return commit();
    case Step::kApply:
      return apply();
    case Step::kAbort:
      return abort();
    case Step::kEnd:
      return;
  }
}

void Transaction::decide() {
  PartitionBatch& batch = *batches_[current_];
  if (batch.task().phase() == Phase::kBirth) {
    batch.give_birth(draw_key_());
  } else {
    batch.decide();
  }
  if (faulty()) return;
  if (const auto offset = batch.stopped_at()) stopped_ = missing_at(batch.task().partition(), *offset);
  if (!batch.empty()) {
    next_ = Step::kEncode;
    return;
  }
  // A partition whose first input has to wait stays out of this transaction.
  batch.give_up();
  batches_.erase(batches_.begin() + static_cast<std::ptrdiff_t>(current_));
  go_on();
}

void Transaction::encode() {
  PartitionBatch& batch = *batches_[current_];
  if (!batch.birth()) batch.encode();
  if (faulty()) return;
  next_ = begun() ? Step::kProduce : Step::kBegin;
}

void Transaction::go_on() {
  // The broker counts since the first record was produced: what is left of these partitions goes with the next one. So
  // it does when what gates let through has no more room.
  if (begun() && current_ < batches_.size() && (spent(kDecidingPart) || left_.lacked)) {
    left_out_ = batches_[current_]->task().partition();
    batches_.resize(current_);
  }
  if (current_ < batches_.size()) {
    next_ = Step::kDecide;
  } else if (begun()) {
    next_ = Step::kFlush;
  } else {
    end(Ending::kEmpty);
  }
}

Error Transaction::missing_at(Partition partition, Offset offset) const {
  return {ErrorClass::kInvalid, 0,
          "topic " + application_.topics.name(application_.topics.of(Role::kCommands)) + " partition " +
              std::to_string(partition.value()) + " offset " + std::to_string(offset.value()) +
              " is a result without id or sequence and on_missing = \"stop\": correct the pipeline, then start with "
              "on_missing = \"dead-letter\" or \"topic\" to get past it"};
}

// Before anything of a partition leaves: was all that was decided on read right?
bool Transaction::faulty() {
  const auto& fault = batches_[current_]->task().store().fault();
  if (!fault) return false;
  error_ = *fault;
  fault_ = true;
  if (begun()) {
    next_ = Step::kAbort;
  } else {
    end(Ending::kFault);
  }
  return true;
}

void Transaction::begin() {
  settle(producer_.begin(), Step::kProduce);
}

void Transaction::produce() {
  PartitionBatch& batch = *batches_[current_];
  const Partition partition = batch.task().partition();
  for (const Outgoing& out : batch.outputs()) {
    kafka::OutgoingRecord record;
    record.topic = out.topic;
    record.key = out.record.key;
    record.payload = out.record.payload;
    record.timestamp = now_;
    record.partition = out.partition;
    record.headers_from = out.headers_from;
    record.headers = out.headers;
    record.edits = {out.record.edits.data(), out.record.edits.size()};
    if (!queue(record)) return;
  }
  failpoint(Failpoint::kTransactionProducing);
  for (const store::Change& row : batch.rows()) {
    kafka::OutgoingRecord record;
    record.topic = application_.topics.of(Role::kChangelog);
    record.partition = partition;
    record.key = row.key;
    record.payload = row.value;
    record.timestamp = now_;
    if (!queue(record)) return;
  }
  ++current_;
  go_on();
}

bool Transaction::queue(const kafka::OutgoingRecord& record) {
  while (true) {
    const auto queued = producer_.produce(record);
    if (queued) return true;
    if (queued.error().what_to_do == ErrorClass::kRetriable && !late()) {
      producer_.poll(kRoomLimit);
      continue;
    }
    error_ = queued.error();
    error_.message = told(error_);
    // Part of the batch is queued: it cannot be repeated, only aborted.
    if (error_.what_to_do == ErrorClass::kFatal || error_.what_to_do == ErrorClass::kFenced) {
      settle(queued, Step::kProduce);
    } else {
      next_ = Step::kAbort;
    }
    return false;
  }
}

void Transaction::flush() {
  settle(producer_.flush(kSlice), Step::kSendOffsets);
}

void Transaction::send_offsets() {
  std::vector<kafka::TopicPartitionOffset> next;
  for (auto& batch : batches_)
    for (const InputPosition& position : batch->positions()) {
      RESEQ_ASSERT(position.next.value() >= 0, "an offset that is none in a transaction");
      if (!application_.guards.offsets_in_every_transaction && unchanged(batch->task(), position)) continue;
      next.push_back({{application_.topics.of(position.role), batch->task().partition()}, position.next});
    }
  const auto group = application_.guards.group_metadata_of_assignment ? group_ : consumer_.group_now();
  settle(next.empty() ? Result<>(Done{}) : producer_.send_offsets(next, *group, kSlice), Step::kCommit);
}

void Transaction::commit() {
  commit_called_ = clock_.steady();
  const auto committed = producer_.commit(kSlice);
  commit_returned_ = clock_.steady();
  settle(committed, Step::kApply);
}

void Transaction::apply() {
  for (auto& batch : batches_) {
    const auto meta = producer_.delivered({application_.topics.of(Role::kChangelog), batch->task().partition()});
    RESEQ_ASSERT(meta.has_value(), "a committed meta row without a delivery report");
    batch->committed(*meta, commit_returned_);
    failpoint(Failpoint::kTransactionApplied);
  }
  end(Ending::kCommitted);
}

void Transaction::abort() {
  const auto aborted = producer_.abort(kSlice);
  if (aborted) return end(fault_ ? Ending::kFault : Ending::kAborted);
  settle(aborted, Step::kAbort);
}

void Transaction::settle(const Result<>& called, Step after) {
  if (called) {
    next_ = after;
    return;
  }
  error_ = called.error();
  error_.message = told(error_);
  switch (error_.what_to_do) {
    case ErrorClass::kRetriable:
    case ErrorClass::kTimeout:
      if (!late()) return;  // the same step again, with the same arguments
      return end(Ending::kUnknown);
    case ErrorClass::kAbort:
      if (next_ == Step::kAbort) return end(Ending::kUnknown);
      next_ = Step::kAbort;
      return;
    case ErrorClass::kFenced:
      return end(Ending::kFenced);
    case ErrorClass::kFatal:
    case ErrorClass::kInvalid:
      return end(Ending::kUnknown);
  }
}

void Transaction::end(Ending ending) {
  ending_ = ending;
  next_ = Step::kEnd;
}

// What is not done by then is given up before the broker gives it up.
bool Transaction::late() const {
  return spent(kLatePart);
}

bool Transaction::spent(std::int64_t part) const {
  return age().value() > application_.settings.transaction_timeout_ms / part;
}

}  // namespace reseq::runtime
