// Random rows that keep the invariants of the model, for properties.
#pragma once

#include <algorithm>
#include <rapidcheck.h>
#include <string>
#include <vector>

#include "codec/hash.h"
#include "codec/keys.h"
#include "model/partition_state.h"
#include "model/row.h"

namespace reseq::codec {

inline HashKey test_hash_key() {
  HashKey key;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) key.bytes[i] = static_cast<std::uint8_t>(i + 1);
  return key;
}

inline std::string document_key(DocumentId id) {
  std::string key;
  append_document_key(id, KeyedHash(test_hash_key()), key);
  return key;
}

template <typename Number>
Number any() {
  return *rc::gen::arbitrary<Number>();
}

inline std::size_t below(std::size_t limit) {
  return *rc::gen::inRange<std::size_t>(0, limit);
}

inline bool one_in(std::size_t n) {
  return below(n) == 0;
}

inline std::string any_bytes(std::size_t least, std::size_t most) {
  return *rc::gen::container<std::string>(least + below(most - least + 1), rc::gen::arbitrary<char>());
}

// Mostly short, with NULs; sometimes around the limit of a raw key; sometimes hashed.
inline std::string any_id() {
  switch (below(6)) {
    case 0:
      return std::string(1 + below(500), '\0');
    case 1:
      return std::string(430 + below(30), 'x');
    case 2:
      return any_bytes(600, 1000);
    case 3:
      return std::string(kMaxIdBytes - below(3), 'y');
    default:
      return any_bytes(1, 24);
  }
}

inline Order any_order() {
  Order order;
  if (one_in(3)) order.epoch = Epoch(any<std::uint32_t>());
  std::string bytes = one_in(2) ? any_bytes(8, 8) : any_bytes(0, Sequence::kMaxBytes);
  if (one_in(2)) std::fill_n(bytes.begin(), below(bytes.size() + 1), '\0');
  order.sequence = Sequence(bytes);
  if (one_in(3)) order.revision = Revision(any<std::uint64_t>());
  return order;
}

inline TargetSet any_targets() {
  return one_in(2) ? TargetSet(std::uint64_t{1} << below(kMaxTargets)) : TargetSet(any<std::uint64_t>());
}

inline void add_any_groups(Row& row) {
  std::vector<Order> orders;
  for (std::size_t count = one_in(3) ? below(6) : 1; count > 0; --count) orders.push_back(any_order());
  std::sort(orders.begin(), orders.end(), [](const Order& a, const Order& b) { return a > b; });
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  TargetSet newer;
  for (const Order& order : orders) {
    Group group;
    group.order = order;
    group.requested = any<bool>();
    group.pending = any_targets().without(newer);
    if (one_in(2)) group.removed = any_targets().without(newer | group.pending);
    group.served = any_targets().without(group.pending | group.removed);
    if (group.known().empty()) continue;
    newer |= group.known();
    row.groups.push_back(group);
  }
}

// Empty extensions, or well-formed optional ones.
inline std::string any_extensions(std::size_t least = 2) {
  std::string extensions;
  if (!one_in(4)) return extensions;
  for (std::size_t tag = least + 2 * below(9); tag < 100; tag += 2 + 2 * below(30)) {
    if (tag == 4 || tag == 6 || tag == 8 || tag == 10 || tag == 12 || tag == 14)
      continue;  // those of a row are known, and those of a meta row
    const std::string bytes = any_bytes(0, 20);
    extensions.push_back(static_cast<char>(tag));
    extensions.push_back(static_cast<char>(bytes.size()));
    extensions += bytes;
  }
  return extensions;
}

inline UnixMs any_time() {
  return UnixMs(any<std::int64_t>());
}

inline Version any_version() {
  return Version(any<std::uint64_t>() % kVersionLimit);
}

inline Offset any_offset() {
  return Offset(static_cast<std::int64_t>(any<std::uint64_t>() >> 2));
}

inline Urgency any_urgency() {
  Urgency urgency;
  urgency.priority = any<std::uint8_t>();
  urgency.inserted = any_time();
  urgency.process_at = one_in(2) ? urgency.inserted : std::max(urgency.inserted, any_time());
  if (one_in(3)) urgency.expires_at = any_time();
  return urgency;
}

inline JournalEntry any_entry(EntryState state, const Order& order, TargetSet targets) {
  JournalEntry entry;
  entry.order = order;
  entry.state = state;
  entry.op = one_in(3) ? Op::kDelete : Op::kUpsert;
  entry.for_all = entry.op == Op::kDelete && one_in(2);
  entry.targets = targets;
  entry.number = 1 + any<std::uint64_t>() % UINT64_MAX;
  entry.urgency = any_urgency();
  if (state == EntryState::kWaiting && one_in(4))
    entry.urgency.consolidate_until = UnixMs(1 + (any<std::int64_t>() & INT32_MAX));
  if (one_in(2)) entry.timeouts = any<std::uint32_t>();
  if (one_in(3)) entry.losses = any<std::uint32_t>();
  if (one_in(3) && entry.state == EntryState::kWaiting) entry.retry_at = UnixMs(any<std::int64_t>() & INT64_MAX);
  entry.request = {any_offset(), any_time(), any<std::uint64_t>(), any<std::uint64_t>(), below(300)};
  return entry;
}

inline TargetSet some_of(TargetSet targets) {
  const TargetSet some = targets & TargetSet(any<std::uint64_t>());
  return some.empty() ? targets : some;
}

// Of each group with pending targets: under way, waiting again; of other orders: waiting, gone.
inline void add_any_journal(Row& row) {
  std::vector<JournalEntry> waiting;
  std::vector<JournalEntry> others;
  for (const Group& group : row.groups) {
    if (group.pending.empty()) continue;
    for (std::size_t count = below(3); count > 0; --count) {
      JournalEntry& entry =
          others.emplace_back(any_entry(EntryState::kProcessing, group.order, some_of(group.pending)));
      entry.attempt = any<std::uint32_t>();
      if (one_in(3)) continue;
      entry.lease_until = UnixMs(static_cast<std::int64_t>(1 + (any<std::uint64_t>() >> 2U)));
      entry.dispatched_at = UnixMs(static_cast<std::int64_t>(any<std::uint64_t>() >> 1U));
    }
    if (one_in(2)) continue;
    JournalEntry& again = waiting.emplace_back(any_entry(EntryState::kWaiting, group.order, some_of(group.pending)));
    again.attempt = any<std::uint32_t>();
    if (row.wanted(again) != again.targets) again.attempt = 0;  // below the barrier
  }
  for (std::size_t count = below(3); count > 0; --count) {
    const TargetSet targets = any_targets();
    if (targets.empty()) continue;
    JournalEntry& entry = waiting.emplace_back(any_entry(EntryState::kWaiting, any_order(), targets));
    entry.attempt = any<std::uint32_t>();  // it stayed behind
    if (row.wanted(entry) != targets) entry.attempt = 0;
  }
  for (std::size_t count = below(3); count > 0; --count) {
    JournalEntry& entry = others.emplace_back(any_entry(EntryState::kGone, any_order(), any_targets()));
    if (one_in(3)) entry.number = 0;
    if (entry.targets.empty()) entry.op = Op::kDelete;
    if (entry.targets.empty()) entry.for_all = true;
    if (one_in(2)) entry.attempt = any<std::uint32_t>();
  }
  std::sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
  const auto is_same = [](const auto& a, const auto& b) { return a.order == b.order; };
  waiting.erase(std::unique(waiting.begin(), waiting.end(), is_same), waiting.end());
  for (const JournalEntry& entry : waiting) row.journal.push_back(entry);
  for (const JournalEntry& entry : others) row.journal.push_back(entry);
  if (row.live() && row.completed()) row.deadline = UnixMs();
}

inline void add_any_failures(Row& row) {
  TargetSet told;
  for (std::size_t count = below(3); count > 0; --count) {
    const TargetSet targets = any_targets().without(told);
    if (targets.empty()) continue;
    told |= targets;
    const bool for_good = any<bool>();
    row.failures.push_back({targets, any_order(), any<std::uint32_t>(), any<std::uint32_t>(), any<std::uint32_t>(),
                            for_good, for_good && any<bool>(), any_time(),
                            any_bytes(0, one_in(9) ? kMaxErrorBytes : 20)});
  }
}

inline Row any_row() {
  Row row;
  if (one_in(4)) row.barrier = any_order();
  add_any_groups(row);
  TargetSet waiting;
  for (std::size_t count = below(3); count > 0; --count) {
    const TargetSet targets = any_targets().without(waiting);
    if (targets.empty()) continue;
    row.since.push_back({targets, UnixMs(any<std::int64_t>())});
    waiting |= targets;
  }
  if (one_in(2)) row.last_version = any_version();
  if (one_in(2)) row.deadline = UnixMs(any<std::int64_t>());
  row.overdue = one_in(5);
  if (!one_in(3)) {
    Requested requested{any_order(), any_offset(), PayloadHash(any<std::uint64_t>()), any_targets()};
    if (!row.groups.empty() && !one_in(3)) requested.order = row.groups.front().order;
    if (!row.groups.empty() && !one_in(3)) requested.forwarded = row.groups.front().known();
    if (one_in(3)) requested.content = Digest{any<std::uint64_t>(), any<std::uint64_t>()};
    row.requested = requested;
  }
  TargetSet deleted;
  for (std::size_t count = one_in(3) ? below(4) : 0; count > 0; --count) {
    const TargetNumber target(static_cast<std::uint8_t>(below(kMaxTargets)));
    if (deleted.contains(target)) continue;
    deleted |= TargetSet::of(target);
    row.deletions.push_back({target, any_order(), UnixMs(any<std::int64_t>())});
  }
  TargetSet served;
  for (std::size_t count = one_in(3) ? below(4) : 0; count > 0; --count) {
    const TargetSet targets = any_targets().without(served);
    if (targets.empty()) continue;
    row.meanwhile.push_back({targets, UnixMs(any<std::int64_t>())});
    served |= targets;
  }
  TargetSet overtaken;
  for (std::size_t count = one_in(3) ? below(4) : 0; count > 0; --count) {
    const TargetSet targets = any_targets().without(overtaken);
    if (targets.empty()) continue;
    row.overtaken.push_back({targets, any_order(), UnixMs(any<std::int64_t>())});
    overtaken |= targets;
  }
  if (one_in(3)) add_any_journal(row);
  row.extensions = any_extensions();
  if (one_in(4)) add_any_failures(row);
  return row;
}

inline PartitionState any_state() {
  PartitionState state;
  state.clock = any_version();
  state.last = any_version();
  state.floors.global = any_version();
  state.default_epoch = Epoch(any<std::uint32_t>());
  for (std::size_t count = below(4); count > 0; --count)
    state.floors.by_target[TargetNumber(static_cast<std::uint8_t>(below(kMaxTargets)))] =
        Version(1 + any<std::uint64_t>() % (kVersionLimit - 1));
  if (one_in(3)) state.journal_number = any<std::uint64_t>();
  if (one_in(3)) state.journal_answered = any<std::uint64_t>();
  return state;
}

inline Meta any_meta() {
  Meta meta;
  meta.state = any_state();
  for (std::size_t role = 0; role < below(4); ++role) meta.positions.push_back({static_cast<Role>(role), any_offset()});
  for (std::size_t count = below(5); count > 0; --count) {
    const Offset first = any_offset();
    meta.ranges.push_back({static_cast<Role>(below(10)), first, Offset(first.value() + any<std::uint16_t>())});
  }
  meta.now = UnixMs(any<std::int64_t>());
  std::uint64_t number = 0;
  for (std::size_t count = below(kMaxLineage + 1); count > 0; --count) {
    number += 1 + below(3);
    meta.lineage.push_back({number, any_offset()});
  }
  meta.summary.digest = {any<std::uint64_t>(), any<std::uint64_t>()};
  meta.summary.counts[Count::kLiveRows] = any<std::uint64_t>();
  meta.summary.counts[Count::kWatermarks] = any<std::uint64_t>();
  meta.sweep_cursor = any_bytes(0, 30);
  meta.swept_from = any_bytes(0, 30);
  meta.swept_to = any_bytes(0, 30);
  meta.config_hash = any<std::uint64_t>();
  for (std::size_t role = 0; one_in(2) && role < 3; ++role)
    meta.pins.push_back({static_cast<Role>(role), any_offset(), UnixMs(any<std::int64_t>()), any<std::uint64_t>()});
  if (one_in(3)) meta.capabilities = any<std::uint64_t>();
  for (std::size_t count = kFirstRareCount; one_in(2) && count < kCounts; ++count)
    meta.summary.counts[static_cast<Count>(count)] = one_in(2) ? below(300) : any<std::uint64_t>();
  for (std::size_t kind = below(40); one_in(2) && kind < 256; kind += 1 + below(40))
    meta.agenda.push_back({static_cast<std::uint8_t>(kind), UnixMs(any<std::int64_t>()),
                           static_cast<std::uint32_t>(1 + below(UINT32_MAX))});
  auto offset = static_cast<std::int64_t>(below(40));
  for (std::size_t gone = meta.agenda.empty() ? 0 : below(4); gone > 0; --gone) {
    meta.gone.emplace_back(offset);
    offset += 1 + static_cast<std::int64_t>(below(1'000'000));
  }
  for (std::size_t unreadable = meta.agenda.empty() ? 0 : below(4); unreadable > 0; --unreadable) {
    meta.unreadable.emplace_back(offset);
    offset += 1 + static_cast<std::int64_t>(below(1'000'000));
  }
  for (std::size_t priority = below(40); one_in(2) && priority < 256; priority += 1 + below(40))
    meta.summary.priorities.push_back({static_cast<std::uint8_t>(priority), below(300), 1 + below(3)});
  meta.extensions = any_extensions(8);
  return meta;
}

}  // namespace reseq::codec
