#include "consumers/stage/transactional_sender.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "consumers/stage/result_size.h"

namespace reseq::stage {
namespace {

constexpr Milliseconds kSlice{1'000};
// A transaction waits this many slices in all: half of its time-out, so that we give it up before the broker does.
constexpr int kWaitsMax = 5;
constexpr Milliseconds kBeforeRetry{100};
constexpr int kFailuresMax = 20;

bool means_again(const Error& error) {
  return error.what_to_do == ErrorClass::kRetriable || error.what_to_do == ErrorClass::kTimeout;
}

bool is_before(const Ticket& ticket, std::span<const NextOffset> next) {
  return std::any_of(next.begin(), next.end(), [&](const NextOffset& one) {
    return one.partition == ticket.partition && ticket.offset < one.next;
  });
}

}  // namespace

Result<> TransactionalSender::send(const Ticket& ticket, std::optional<std::string_view> key,
                                   std::optional<std::string_view> payload, std::span<const OwnedHeader> headers) {
  const Result<std::uint64_t> bytes = fitting_bytes(key, payload, views_of(headers), record_bytes_max_);
  if (!bytes) return bytes.error();
  HeldRecord& record = held_[ticket];
  if (!record.results.empty() &&
      (record.results.size() >= kRecordResultsMax || record.bytes + bytes.value() > kRecordBytesMax))
    return Error{.what_to_do = ErrorClass::kInvalid,
                 .message = "too many results for one record: at most " + std::to_string(kRecordResultsMax) + ", of " +
                            std::to_string(kRecordBytesMax) + " bytes together"};
  record.bytes += bytes.value();
  record.results.push_back({owned_bytes(key), owned_bytes(payload), {headers.begin(), headers.end()}});
  kept_.push_back(ticket);
  return Done{};
}

Result<std::vector<Ticket>> TransactionalSender::acknowledged(Milliseconds limit) {
  if (kept_.empty() && producer_) producer_->poll(limit);
  return std::exchange(kept_, {});
}

Result<> TransactionalSender::settle(Milliseconds limit) {
  if (record_bytes_max_ == 0) {
    Result<kafka::TopicFacts> facts = cluster_->topic_facts(kCommandsTopic, limit);
    if (!facts) return facts.error();
    record_bytes_max_ = facts.value().max_message_bytes;
  }
  if (!producer_) {
    Result<std::unique_ptr<kafka::Producer>> made = cluster_->producer();
    if (!made) return made.error();
    producer_ = std::move(made).value();
    initialised_ = false;
  }
  if (initialised_) return Done{};
  Result<> ready = producer_->init(limit);
  if (!ready && !means_again(ready.error())) {
    producer_.reset();
    return failed(ready.error());
  }
  initialised_ = ready.ok();
  return ready;
}

Result<> TransactionalSender::commit(std::span<const NextOffset> next, const kafka::GroupMetadata& group) {
  if (Result<> settled = settle(kSlice); !settled) return settled;
  waits_left_ = kWaitsMax;
  const std::vector<NextOffset> part = first_part(next);
  Result<> done = run_transaction(part, group);
  if (!done) {
    const ErrorClass what = done.error().what_to_do;
    const bool aborted = (what == ErrorClass::kAbort || what == ErrorClass::kInvalid) &&
                         repeat([&] { return producer_->abort(kSlice); }).ok();
    if (!aborted || producer_->in_doubt()) producer_.reset();
    return failed(done.error());
  }
  if (producer_->in_doubt()) producer_.reset();
  forget(part);
  failures_ = 0;
  fenced_ = 0;
  if (std::equal(part.begin(), part.end(), next.begin(), next.end())) return Done{};
  return Error{.what_to_do = ErrorClass::kRetriable, .message = "the rest takes another transaction"};
}

std::vector<NextOffset> TransactionalSender::first_part(std::span<const NextOffset> next) const {
  std::vector<NextOffset> part;
  std::size_t results = 0;
  std::uint64_t bytes = 0;
  for (const NextOffset& one : next) {
    for (auto held = held_.lower_bound({.partition = one.partition, .offset = Offset(0), .assignment = Assignment(0)});
         held != held_.end() && is_before(held->first, {&one, 1}); ++held) {
      const bool first = results == 0;
      results += held->second.results.size();
      bytes += held->second.bytes;
      if (first || (results <= kTransactionResultsMax && bytes <= kTransactionBytesMax)) continue;
      part.push_back({one.partition, held->first.offset});
      return part;
    }
    part.push_back(one);
  }
  return part;
}

Result<> TransactionalSender::run_transaction(std::span<const NextOffset> next, const kafka::GroupMetadata& group) {
  if (Result<> begun = repeat([&] { return producer_->begin(); }); !begun) return begun;
  for (const auto& [ticket, record] : held_) {
    if (!is_before(ticket, next)) continue;
    for (const Held& result : record.results)
      if (Result<> queued = queue(result); !queued) return queued;
  }
  if (Result<> flushed = repeat([&] { return producer_->flush(kSlice); }); !flushed) return flushed;
  std::vector<kafka::TopicPartitionOffset> offsets;
  for (const NextOffset& one : next) offsets.push_back({{kWorkTopic, one.partition}, one.next});
  if (Result<> sent = repeat([&] { return producer_->send_offsets(offsets, group, kSlice); }); !sent) return sent;
  return repeat([&] { return producer_->commit(kSlice); });
}

Result<> TransactionalSender::queue(const Held& result) {
  const std::vector<Header> headers = views_of(result.headers);
  kafka::OutgoingRecord record;
  record.topic = kCommandsTopic;
  if (result.key) record.key = *result.key;
  if (result.payload) record.payload = *result.payload;
  record.headers = headers;
  return repeat([&] { return producer_->produce(record); });
}

template <typename Call>
Result<> TransactionalSender::repeat(Call call) {
  while (true) {
    Result<> done = call();
    if (done || !means_again(done.error()) || waits_left_ == 0) return done;
    --waits_left_;
    if (done.error().what_to_do == ErrorClass::kRetriable) producer_->poll(kBeforeRetry);
  }
}

Error same_instance(const Error& fenced) {
  return {.what_to_do = ErrorClass::kFenced,
          .code = fenced.code,
          .message = "another stage has the same group and instance id, give each its own: " + fenced.message};
}

// What the caller shall do about it.
Error TransactionalSender::failed(Error error) {
  ++failures_;
  if (error.what_to_do == ErrorClass::kInvalid) return error;
  if (error.what_to_do == ErrorClass::kFenced && ++fenced_ > 1) return same_instance(error);
  if (failures_ > kFailuresMax)
    return {.what_to_do = ErrorClass::kFatal,
            .code = error.code,
            .message = std::to_string(failures_) + " transactions in a row have failed: " + error.message};
  error.what_to_do = ErrorClass::kAbort;
  return error;
}

void TransactionalSender::forget(std::span<const NextOffset> next) {
  std::erase_if(held_, [&](const auto& held) { return is_before(held.first, next); });
}

void TransactionalSender::drop(Partition partition) {
  std::erase_if(held_, [&](const auto& held) { return held.first.partition == partition; });
}

}  // namespace reseq::stage
