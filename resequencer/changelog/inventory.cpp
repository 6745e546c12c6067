#include "changelog/inventory.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/id_hash.h"
#include "codec/keys.h"
#include "codec/row_kinds.h"
#include "codec/rows.h"
#include "kafka/settings.h"

namespace reseq::changelog {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Milliseconds kPollSlice{200};
constexpr std::uint64_t kProgressEvery = 50'000;  // records

Error unreadable(Offset offset, const std::string& what) {
  return {ErrorClass::kInvalid, 0, "changelog: record at offset " + std::to_string(offset.value()) + " " + what};
}

class Reading {
 public:
  explicit Reading(const InventoryRequest& request) : request_(request) {}

  Result<> take(const kafka::Record& record) {
    ++inventory_.records;
    if (!record.key) return unreadable(record.offset, "has no key");
    const codec::RowKind* const kind = codec::row_kind_of(*record.key);
    if (kind == nullptr || !codec::parse_key(*record.key))
      return unreadable(record.offset, "has a key of a type that this version does not know");
    if (!record.payload && !kind->removable) return unreadable(record.offset, "removes a row that is never removed");
    switch (kind->type) {
      case codec::KeyType::kDocument:
        return take_document(record);
      case codec::KeyType::kIdentity:
        return keep(codec::decode_identity(*record.key, *record.payload), record.offset,
                    [this](Identity identity) { inventory_.identity = std::move(identity); });
      case codec::KeyType::kTargets:
        return keep(codec::decode_targets(*record.key, *record.payload), record.offset,
                    [this](TargetTable targets) { take_targets(std::move(targets)); });
      case codec::KeyType::kMeta:
        return keep(codec::decode_meta(*record.key, *record.payload), record.offset,
                    [this](Meta meta) { inventory_.meta = std::move(meta); });
      case codec::KeyType::kHeld:
      case codec::KeyType::kPiece:
      case codec::KeyType::kTask:
      case codec::KeyType::kPlace:
        break;
    }
    if (record.payload)
      if (const auto error = kind->check(*record.key, *record.payload))
        return unreadable(record.offset, "cannot be read: " + std::string(name_of(*error)));
    return Done{};
  }

  Inventory done(Offset end) {
    inventory_.end = end;
    for (const auto& [key, targets] : waiting_)
      for (const TargetNumber target : targets) ++inventory_.waiting[inventory_.targets.name(target)];
    return std::move(inventory_);
  }
  [[nodiscard]] std::uint64_t records() const { return inventory_.records; }

 private:
  template <typename T, typename Keep>
  Result<> keep(codec::Decoded<T> decoded, Offset offset, Keep keep) {
    if (const auto* error = std::get_if<codec::RowError>(&decoded))
      return unreadable(offset, "cannot be read: " + std::string(name_of(*error)));
    keep(std::get<T>(std::move(decoded)));
    return Done{};
  }

  void take_targets(TargetTable targets) {
    inventory_.targets = std::move(targets);
    configured_ = TargetSet();
    const auto& names = inventory_.targets.names();
    for (std::size_t i = 0; i < names.size(); ++i)
      if (std::find(request_.configured_targets.begin(), request_.configured_targets.end(), names[i]) !=
          request_.configured_targets.end())
        configured_ |= TargetSet::of(TargetNumber(static_cast<std::uint8_t>(i)));
    for (auto& [key, targets_of_it] : waiting_) targets_of_it = targets_of_it.without(configured_);
    std::erase_if(waiting_, [](const auto& entry) { return entry.second.empty(); });
  }

  Result<> take_document(const kafka::Record& record) {
    TargetSet waiting;
    if (record.payload) {
      auto decoded = codec::decode_row(*record.key, *record.payload);
      if (const auto* error = std::get_if<codec::RowError>(&decoded))
        return unreadable(record.offset, "cannot be read: " + std::string(name_of(*error)));
      waiting = std::get<codec::DocumentRow>(decoded).row.unfinished().without(configured_);
    }
    if (waiting.empty()) {
      waiting_.erase(std::string(*record.key));
    } else {
      waiting_[std::string(*record.key)] = waiting;
    }
    return Done{};
  }

  const InventoryRequest& request_;
  Inventory inventory_;
  // Of the table so far. The row of a new target stands behind the first documents that have it, in one transaction.
  TargetSet configured_;
  std::unordered_map<std::string, TargetSet, IdHash> waiting_;
};

}  // namespace

Result<Inventory> take_inventory(kafka::LogReader& reader, const InventoryRequest& request) {
  const std::array<kafka::TopicPartition, 1> where = {request.where};
  const auto marks = reader.high_watermarks(where, kafka::kBrokerAnswerLimit);
  if (!marks) return marks.error();
  const auto begins = reader.begins(where, kafka::kBrokerAnswerLimit);
  if (!begins) return begins.error();
  const Offset end = marks.value().front().offset;
  Offset position = begins.value().front().offset;
  if (auto assigned = reader.assign(begins.value()); !assigned) return assigned.error();

  Reading reading(request);
  Clock::time_point moved = Clock::now();
  while (position < end) {
    auto polled = reader.poll(kPollSlice);
    if (!polled) return polled.error();
    const Offset before = position;
    if (const auto* at_end = std::get_if<kafka::EndOfLog>(&polled.value())) {
      position = std::max(position, at_end->offset);
    } else if (const auto* failed = std::get_if<kafka::PartitionFailure>(&polled.value())) {
      return failed->error;
    } else if (const auto* record = std::get_if<kafka::Record>(&polled.value())) {
      if (auto taken = reading.take(*record); !taken) return taken.error();
      position = std::max(position, Offset(record->offset.value() + 1));
      if (request.progress && reading.records() % kProgressEvery == 0) request.progress(position, end);
    }
    if (position > before) moved = Clock::now();
    if (Clock::now() - moved > std::chrono::milliseconds(request.stall_limit.value()))
      return Error{ErrorClass::kTimeout, 0,
                   "changelog: nothing to read behind offset " + std::to_string(position.value()) + " of " +
                       std::to_string(end.value()) + ": a transaction is still open there, try again"};
  }
  return reading.done(end);
}

}  // namespace reseq::changelog
