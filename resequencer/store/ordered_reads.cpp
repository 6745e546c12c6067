// The part of PartitionStore that reads many rows: what is due, the watermark sweep, the pending targets. Memory and
// disk are merged; what memory has an entry for, disk does not know any more. Documents that are read from disk are
// decoded, rows that are scanned have their checksum compared, so that each pass is a scrub as well.
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "codec/keys.h"
#include "codec/row_kinds.h"
#include "codec/rows.h"
#include "model/effects.h"
#include "store/index_key.h"
#include "store/partition_store.h"

namespace reseq::store {
namespace {

// What the keys of all documents begin with.
constexpr std::string_view kDocuments = "D";

Error damaged(std::string_view what) {
  return {ErrorClass::kInvalid, 0, "state: " + std::string(what) + " on disk is damaged"};
}

std::optional<codec::DocumentRow> decode(std::string_view key, std::string_view value) {
  auto decoded = codec::decode_row(key, value);
  if (auto* row = std::get_if<codec::DocumentRow>(&decoded)) return std::move(*row);
  return std::nullopt;
}

// Rows on disk behind a cursor that memory does not hide, while their keys begin with `prefix`.
class DiskRows {
 public:
  DiskRows(const DiskCopy* disk, const MemoryTable& memory, std::string_view cursor, std::string_view prefix)
      : memory_(memory), prefix_(prefix) {
    if (disk == nullptr) return;
    scan_.emplace(disk->rows(cursor));
    if (scan_->valid() && scan_->key() == cursor) scan_->next();
    settle();
  }
  [[nodiscard]] bool valid() const { return scan_ && scan_->valid() && scan_->key().starts_with(prefix_); }
  [[nodiscard]] std::string_view key() const { return scan_->key(); }
  [[nodiscard]] std::string_view value() const { return scan_->value(); }
  void next() {
    scan_->next();
    settle();
  }
  [[nodiscard]] std::optional<Error> error() const { return scan_ ? scan_->error() : std::nullopt; }

 private:
  void settle() {
    while (valid() && memory_.find(scan_->key()) != nullptr) scan_->next();
  }
  const MemoryTable& memory_;
  std::string_view prefix_;
  std::optional<Environment::Scan> scan_;
};

// What stands in the table of timers, as far as memory does not hide it: timers, or the entries of an index. Keys rise:
// one that does not has hidden others.
template <typename Entry>
class DiskEntries {
 public:
  using Parse = std::optional<Entry> (*)(std::string_view bytes);
  // From a key on.
  using Begin = std::function<std::optional<Environment::Scan>(std::string_view from)>;
  // They end with this index; none: timers, which are the last of the table.
  DiskEntries(Begin begin, std::string_view from, const MemoryTable& memory, std::optional<std::uint8_t> index,
              Parse parse)
      : begin_(std::move(begin)), scan_(begin_(from)), memory_(memory), index_(index), parse_(parse) {}

  // The first that is left; none: it was the last one, or error().
  [[nodiscard]] std::optional<Entry> front() {
    std::size_t passed = 0;
    while (scan_ && scan_->valid() && !error_) {
      const bool ended = index_ && static_cast<std::uint8_t>(scan_->key().front()) != *index_;
      const auto entry = ended ? std::nullopt : parse_(scan_->key());
      if (!ended && !entry) error_ = damaged("a timer or an index entry");
      if (entry && memory_.find(row_of(*entry)) == nullptr) return entry;
      if (!error_ && !ended && index_ && ++passed == kPassedMax)
        begin_again();
      else if (!error_)
        step();
      if (ended) break;
    }
    if (scan_ && scan_->error()) error_ = scan_->error();
    scan_.reset();
    return std::nullopt;
  }
  void step() {
    const std::string_view last = scan_->key();
    scan_->next();
    if (scan_->valid() && scan_->key() <= last) error_ = damaged("the order of timers or of an index");
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  // So many hidden ones behind each other may be of a run that is known.
  static constexpr std::size_t kPassedMax = 32;
  void begin_again() {
    auto behind = begin_(std::string(scan_->key()));
    scan_.reset();
    if (behind) scan_.emplace(std::move(*behind));
  }
  static std::string_view row_of(const Timer& timer) { return timer.key; }
  static std::string_view row_of(const IndexKey& entry) { return entry.row; }

  Begin begin_;
  std::optional<Environment::Scan> scan_;
  const MemoryTable& memory_;
  std::optional<std::uint8_t> index_;
  Parse parse_;
  std::optional<Error> error_;
};

// Those of memory and disk in order. `in_memory()`: the next one there.
template <typename Entry, typename InMemory>
class InOrder {
 public:
  InOrder(DiskEntries<Entry> on_disk, InMemory in_memory)
      : on_disk_(std::move(on_disk)), in_memory_(std::move(in_memory)), of_memory_(in_memory_()) {}

  [[nodiscard]] std::optional<Entry> first() { return choose(); }
  [[nodiscard]] std::optional<Entry> next() {
    if (from_disk_) {
      on_disk_.step();
    } else {
      of_memory_ = in_memory_();
    }
    return choose();
  }
  [[nodiscard]] bool from_disk() const { return from_disk_; }
  [[nodiscard]] const std::optional<Error>& error() const { return on_disk_.error(); }

 private:
  std::optional<Entry> choose() {
    const auto of_disk = on_disk_.front();
    from_disk_ = of_disk && (!of_memory_ || *of_disk < *of_memory_);
    if (from_disk_) return of_disk;
    return error() ? std::nullopt : of_memory_;
  }

  DiskEntries<Entry> on_disk_;
  InMemory in_memory_;
  std::optional<Entry> of_memory_;
  bool from_disk_ = false;
};

// Where the entries of an index that are not less than `from` begin; the empty one is in front of all.
std::string begin_of(std::uint8_t index, std::string_view from) {
  RESEQ_ASSERT(from.size() <= kMaxIndexEntryBytes, "an entry outside its limits");
  std::string begin(1, static_cast<char>(index));
  if (!from.empty()) begin.append(1, static_cast<char>(from.size())).append(from);
  return begin;
}

// The key of an entry has no checksum of its own: its row must say the same.
bool has_index_key(std::optional<std::string_view> row, const IndexKey& key) {
  bool found = false;
  if (row)
    each_index_key(key.row, *row, [&](const std::string& one) {
      std::string expected;
      append_index_key(key, expected);
      found = found || one == expected;
    });
  return found;
}

}  // namespace

std::vector<std::string> PartitionStore::due(UnixMs now, std::size_t max) const {
  std::vector<std::string> ids;
  if (memory_ == nullptr) return ids;
  const CrashMark mark = this->mark();
  const std::set<Timer> in_memory = memory_->timers_until(now, max);
  const auto begin = [this](std::string_view /*from*/) {
    return disk() != nullptr ? disk()->timers(*memory_) : std::nullopt;
  };
  InOrder timers(DiskEntries<Timer>(begin, {}, *memory_, std::nullopt, parse_timer_key),
                 [one = in_memory.begin(), end = in_memory.end()]() mutable {
                   return one == end ? std::nullopt : std::optional(*one++);
                 });
  for (auto timer = timers.first(); timer && timer->deadline <= now && ids.size() < max; timer = timers.next()) {
    // The key of a timer has no checksum of its own: its row must say the same.
    const auto value = value_of(hash_->hashed(timer->key));
    auto row = value ? decode(timer->key, *value) : std::nullopt;
    if (!row || codec::timer_of(timer->key, *value) != timer->deadline) {
      break_down(damaged("a timer or its row"));
      return ids;
    }
    ids.push_back(std::move(row->id));
  }
  if (timers.error()) break_down(*timers.error());
  return ids;
}

std::optional<UnixMs> PartitionStore::earliest_deadline() const {
  if (memory_ == nullptr) return std::nullopt;
  const CrashMark mark = this->mark();
  const std::optional<UnixMs> earliest = memory_->earliest_timer();
  const auto scan = disk() != nullptr ? disk()->timers(*memory_) : std::nullopt;
  if (!scan) return earliest;
  if (scan->error()) break_down(*scan->error());
  if (!scan->valid()) return earliest;
  const auto timer = parse_timer_key(scan->key());
  if (!timer) {
    break_down(damaged("a timer"));
    return earliest;
  }
  return earliest && *earliest < timer->deadline ? earliest : timer->deadline;
}

enum class Visited : unsigned char { kGoOn, kStop, kDamaged };

// Keys of rows behind `cursor` in order, rows_max at most, while they begin with `prefix`. `visit` gets the key
// and the value, none for a row that is gone, and returns Visited.
template <typename Visit>
PartitionStore::Walked PartitionStore::walk(std::string_view cursor, std::string_view prefix, std::size_t rows_max,
                                            const Visit& visit) const {
  cursor = cursor.substr(0, codec::kMaxKeyBytes);
  Walked walked{std::string(cursor), 0, true};
  if (memory_ == nullptr) return walked;
  const CrashMark mark = this->mark();
  auto in_memory = memory_->keys().behind(cursor);
  DiskRows on_disk(disk(), *memory_, cursor, prefix);
  for (; walked.looked_at < rows_max; ++walked.looked_at) {
    const bool has_memory = in_memory.valid() && in_memory.key().starts_with(prefix);
    const bool has_disk = on_disk.valid();
    if (!has_memory && !has_disk) {
      if (on_disk.error()) break_down(*on_disk.error());
      return walked;
    }
    const bool from_disk = has_disk && (!has_memory || on_disk.key() < in_memory.key());
    const std::string_view key = from_disk ? on_disk.key() : in_memory.key();
    const auto value = from_disk ? std::optional(on_disk.value()) : memory_->find(key)->value();
    const Visited visited = visit(key, value);
    if (visited == Visited::kDamaged) {
      break_down(damaged("a row"));
      return walked;
    }
    walked.cursor = key;
    if (visited == Visited::kStop) rows_max = walked.looked_at + 1;
    if (from_disk) {
      on_disk.next();
    } else {
      in_memory.next();
    }
  }
  walked.ended = false;
  return walked;
}

PartitionStore::Swept PartitionStore::sweep(std::string_view cursor, std::size_t rows_max, UnixMs now) const {
  Swept swept;
  Walked walked = walk(cursor, kDocuments, rows_max, [&](std::string_view key, std::optional<std::string_view> value) {
    if (!value) return Visited::kGoOn;
    auto row = decode(key, *value);
    if (!row) return Visited::kDamaged;
    const UnixMs deadline = row->row.deadline;
    if (!row->row.live() && deadline != UnixMs() && deadline <= now) swept.expired_ids.push_back(std::move(row->id));
    return Visited::kGoOn;
  });
  swept.looked_at = walked.looked_at;
  if (!walked.ended) swept.cursor = std::move(walked.cursor);
  return swept;
}

PartitionStore::Walked PartitionStore::documents(std::string_view cursor, std::string_view prefix, Which which,
                                                 std::size_t rows_max, const DocumentVisit& visit) const {
  if (prefix.empty()) prefix = kDocuments;
  // In front of every key that begins with it, because none ends there.
  if (cursor < prefix) cursor = prefix;
  return walk(cursor, prefix, rows_max, [&](std::string_view key, std::optional<std::string_view> value) {
    if (!value) return Visited::kGoOn;
    if (which == Which::kLive && value->size() < codec::kRowBytesMin) return Visited::kDamaged;
    if (which == Which::kLive && codec::is_watermark(*value)) return Visited::kGoOn;
    auto row = decode(key, *value);
    if (!row) return Visited::kDamaged;
    return visit(std::move(row->id), std::move(row->row)) ? Visited::kGoOn : Visited::kStop;
  });
}

void PartitionStore::scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max,
                          const engine::RowVisit& visit) const {
  RESEQ_ASSERT(!prefix.empty(), "a scan of everything");
  std::size_t left = rows_max;
  const auto is_last = [&](std::string_view key, std::string_view value) { return !visit(key, value) || --left == 0; };
  if (left == 0) return;
  if (cursor < prefix) {  // a walk begins behind its cursor, and this may be a key itself
    if (const auto first = row(prefix); first && is_last(prefix, *first)) return;
    cursor = prefix;
  }
  (void)walk(cursor, prefix, SIZE_MAX, [&](std::string_view key, std::optional<std::string_view> value) {
    if (!value) return Visited::kGoOn;
    if (!codec::is_intact(key, *value)) return Visited::kDamaged;
    return is_last(key, *value) ? Visited::kStop : Visited::kGoOn;
  });
}

void PartitionStore::index(std::uint8_t index, std::string_view from, std::size_t entries_max,
                           const engine::IndexVisit& visit) const {
  if (memory_ == nullptr || entries_max == 0) return;
  const CrashMark mark = this->mark();
  const std::string begin = begin_of(index, from);
  const auto& keys = memory_->index_keys();
  const auto begin_at = [this, index](std::string_view key) {
    return disk() != nullptr ? disk()->index(*memory_, index, key) : std::nullopt;
  };
  InOrder entries(DiskEntries<IndexKey>(begin_at, begin, *memory_, index, parse_index_key),
                  [one = keys.lower_bound(begin), end = keys.end(), index]() mutable {
                    const bool ended = one == end || static_cast<std::uint8_t>(one->front()) != index;
                    return ended ? std::nullopt : parse_index_key(*one++);
                  });
  for (auto one = entries.first(); one && entries_max > 0; one = entries.next(), --entries_max) {
    if (entries.from_disk() && !has_index_key(value_of(hash_->hashed(one->row)), *one)) {
      break_down(damaged("an index entry or its row"));
      return;
    }
    if (!visit(one->entry, one->row)) return;
  }
  if (entries.error()) break_down(*entries.error());
}

PartitionStore::Walked PartitionStore::pending_targets(std::string_view cursor, std::size_t rows_max,
                                                       TargetSet& pending) const {
  return walk(cursor, kDocuments, rows_max, [&](std::string_view key, std::optional<std::string_view> value) {
    if (!value) return Visited::kGoOn;
    const auto row = decode(key, *value);
    if (!row) return Visited::kDamaged;
    pending |= row->row.unfinished();
    return Visited::kGoOn;
  });
}

}  // namespace reseq::store
