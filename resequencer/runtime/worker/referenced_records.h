// ReferencedRecords: records of `requests` that the gate of one partition holds by reference. A turn ends in front of
// one that has not been read again; then the turns are played ahead as if all were there, which says what they need,
// and the ReferenceReader reads it. So a turn goes on when all that was wanted is read, or is known to be gone, or
// cannot be read for now; what leaves has a look every 50 ms meanwhile, because a date may have come of something else.
// Records are copied: librdkafka keeps a whole fetched batch for each that is kept, and these lie far apart.
// Thread rule: one worker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/assert.h"
#include "codec/command_decoder.h"
#include "codec/hash.h"
#include "codec/held_rows.h"
#include "engine/references.h"
#include "kafka/cluster.h"

namespace reseq::runtime {

// What turns need, told by playing them as if all of it was there.
class NeededRecords final : public engine::References {
 public:
  struct Needed {
    Offset offset;
    std::uint64_t hash = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Found find(const codec::HeldRow& held) override {
    needed_.push_back({held.offset, held.hash, held.record_bytes});
    return Found::kRead;
  }
  [[nodiscard]] const std::vector<Needed>& needed() const { return needed_; }

 private:
  std::vector<Needed> needed_;
};

// A record of `requests` with bytes of its own.
class KeptRecord {
 public:
  explicit KeptRecord(const kafka::Record& record) {
    const auto kept = [this](std::optional<std::string_view> bytes) {
      return bytes ? std::optional(bytes_.copy(*bytes)) : std::nullopt;
    };
    input_.partition = record.where.partition;
    input_.offset = record.offset;
    input_.timestamp = record.timestamp;
    input_.key = kept(record.key);
    input_.payload = kept(record.payload);
    for (const Header& header : record.headers) headers_.push_back({bytes_.copy(header.name), kept(header.value)});
    input_.headers = headers_;
    input_.headers_left_out = record.left_out.count;
  }
  [[nodiscard]] const codec::InputRecord& input() const { return input_; }

 private:
  Arena bytes_;
  std::vector<Header> headers_;
  codec::InputRecord input_;
};

class ReferencedRecords final : public engine::References {
 public:
  [[nodiscard]] Found find(const codec::HeldRow& held) override {
    const auto known = records_.find(held.offset);
    return known == records_.end() ? Found::kUnread : known->second.found;
  }
  // REQUIRES: found kRead.
  [[nodiscard]] const codec::InputRecord& at(Offset offset) const {
    const auto known = records_.find(offset);
    RESEQ_ASSERT(known != records_.end() && known->second.record, "a record that was not read again");
    return known->second.record->input();
  }

  // These are to be read, for turns of these kinds; what is not needed any more is forgotten. One may be named twice.
  void want(const std::vector<NeededRecords::Needed>& needed, const std::vector<std::uint8_t>& kinds) {
    std::map<Offset, Entry> wanted;
    for (const auto& one : needed) {
      auto known = records_.extract(one.offset);
      if (known.empty())
        wanted.try_emplace(one.offset, Entry{one.hash, one.bytes, Found::kUnread, nullptr});
      else
        wanted.insert(std::move(known));
    }
    for (auto& [offset, entry] : wanted)
      if (entry.found == Found::kUnreadable) entry.found = Found::kUnread;
    records_ = std::move(wanted);
    next_ = Offset(0);
    kinds_ = kinds;
  }
  // It was let through.
  void forget(Offset offset) { records_.erase(offset); }
  void clear() {
    records_.clear();
    kinds_.clear();
  }

  // Something that is wanted has not been read.
  [[nodiscard]] bool waits() const { return next().has_value(); }
  // A turn has found that at this time.
  void found_waiting(UnixMs now) { found_waiting_ = now; }
  [[nodiscard]] bool found_waiting_lately(UnixMs now) const {
    constexpr std::int64_t kLookAgainMs = 50;  // a date may have come of something that is more urgent
    const std::int64_t since = now.value() - found_waiting_.value();
    return since >= 0 && since < kLookAgainMs;
  }
  // A turn of this kind would only find that.
  [[nodiscard]] bool waits(std::uint8_t kind) const {
    return std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end() && waits();
  }
  [[nodiscard]] std::span<const std::uint8_t> kinds() const { return kinds_; }
  // The first that is to be read.
  [[nodiscard]] std::optional<Offset> next() const {
    auto one = records_.lower_bound(next_);
    while (one != records_.end() && one->second.found != Found::kUnread) ++one;
    next_ = one == records_.end() ? Offset(INT64_MAX) : one->first;
    return one == records_.end() ? std::nullopt : std::optional(one->first);
  }
  // Of all that is wanted, read or not.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [offset, entry] : records_) bytes += entry.bytes;
    return bytes;
  }
  // Of what has been read.
  [[nodiscard]] std::uint64_t read_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [offset, entry] : records_) bytes += entry.record ? entry.bytes : 0;
    return bytes;
  }

  // The next record of the log behind the last one that was read. True: it was wanted.
  bool read(const kafka::Record& record, const codec::KeyedHash& hash) {
    gone_before(record.offset);
    const auto wanted = records_.find(record.offset);
    if (wanted == records_.end() || wanted->second.found != Found::kUnread) return false;
    Entry& entry = wanted->second;
    const bool same = hash.of_input(record.key, record.payload) == entry.hash;
    entry.found = same ? Found::kRead : Found::kGone;
    if (same) entry.record = std::make_unique<KeptRecord>(record);
    return true;
  }
  // What has not been read cannot be, for now: all of it, or the first.
  void give_up(bool only_first) {
    for (auto& [offset, entry] : records_) {
      if (entry.found != Found::kUnread) continue;
      entry.found = Found::kUnreadable;
      if (only_first) return;
    }
  }
  // What has not been read in front of this place is not there any more.
  void gone_before(Offset place) {
    for (auto one = records_.lower_bound(next_); one != records_.end() && one->first < place; ++one)
      if (one->second.found == Found::kUnread) one->second.found = Found::kGone;
    next_ = std::max(next_, place);
  }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::uint64_t bytes = 0;
    Found found = Found::kUnread;
    std::unique_ptr<KeptRecord> record;
  };
  std::map<Offset, Entry> records_;
  mutable Offset next_;  // nothing in front of it is to be read
  std::vector<std::uint8_t> kinds_;
  UnixMs found_waiting_;
};

}  // namespace reseq::runtime
