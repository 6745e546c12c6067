#include "codec/row_journal.h"

#include <algorithm>

#include "codec/row_order.h"

namespace reseq::codec {
namespace {

constexpr std::uint8_t kSomeWait = 1;
constexpr std::uint8_t kSomeProcess = 2;
constexpr std::uint8_t kSomeLease = 4;
constexpr std::uint8_t kAllHeadBits = 7;

constexpr std::uint8_t kStateMask = 3;
constexpr std::uint8_t kConsolidated = 3;  // it waits; the others are those of EntryState
constexpr std::uint8_t kEntryDelete = 4;
constexpr std::uint8_t kEntryForAll = 8;
constexpr std::uint8_t kEntryProcessAt = 16;
constexpr std::uint8_t kEntryExpiresAt = 32;
constexpr std::uint8_t kEntryTried = 64;
constexpr std::uint8_t kEntryLease = 128;

void make_more_urgent(std::optional<std::uint8_t>& most, std::uint8_t priority) {
  most = most ? std::min(*most, priority) : priority;
}

JournalHead head_of_entries(const Row& row) {
  JournalHead head;
  for (const JournalEntry& entry : row.journal) {
    if (entry.state == EntryState::kWaiting) make_more_urgent(head.priorities.waiting, entry.urgency.priority);
    if (!entry.takes_room()) continue;
    make_more_urgent(head.priorities.processing, entry.urgency.priority);
    const bool earlier = head.lease_until == UnixMs() || entry.lease_until < head.lease_until;
    if (earlier) head.lease_until = entry.lease_until;
  }
  return head;
}

void write_journal_head(const JournalHead& head, ByteWriter& out) {
  const auto& [waiting, processing] = head.priorities;
  const bool lease = head.lease_until != UnixMs();
  out.u8(static_cast<std::uint8_t>((waiting ? kSomeWait : 0U) | (processing ? kSomeProcess : 0U) |
                                   (lease ? kSomeLease : 0U)));
  if (waiting) out.u8(*waiting);
  if (processing) out.u8(*processing);
  if (lease) out.time(head.lease_until);
}

std::uint8_t state_of(const JournalEntry& entry) {
  const bool consolidated = entry.urgency.consolidate_until != UnixMs();
  unsigned state = consolidated ? kConsolidated : static_cast<unsigned>(entry.state);
  if (entry.op == Op::kDelete) state |= kEntryDelete;
  if (entry.for_all) state |= kEntryForAll;
  if (entry.urgency.process_at != entry.urgency.inserted) state |= kEntryProcessAt;
  if (entry.urgency.expires_at != UnixMs()) state |= kEntryExpiresAt;
  const bool tried =
      (entry.attempt | entry.timeouts | entry.losses) != 0 || entry.retry_at != UnixMs() || !entry.taken_over.empty();
  if (tried) state |= kEntryTried;
  if (entry.lease_until != UnixMs()) state |= kEntryLease;
  return static_cast<std::uint8_t>(state);
}

}  // namespace

void write_entry(const JournalEntry& entry, ByteWriter& out) {
  const std::uint8_t state = state_of(entry);
  out.u8(state);
  write_order(entry.order, out);
  out.varint(entry.targets.bits());
  out.varint(entry.number);
  out.u8(entry.urgency.priority);
  out.time(entry.urgency.inserted);
  if ((state & kEntryProcessAt) != 0) out.time(entry.urgency.process_at);
  if ((state & kEntryExpiresAt) != 0) out.time(entry.urgency.expires_at);
  if ((state & kEntryTried) != 0) {
    out.varint(entry.attempt);
    out.varint(entry.timeouts);
    out.varint(entry.losses);
    out.time(entry.retry_at);
    out.varint(entry.taken_over.bits());
  }
  if ((state & kStateMask) == kConsolidated) out.time(entry.urgency.consolidate_until);
  if ((state & kEntryLease) != 0) {
    out.time(entry.lease_until);
    out.time(entry.dispatched_at);
  }
  out.offset(entry.request.offset);
  out.time(entry.request.timestamp);
  out.fixed64(entry.request.hash);
  out.varint(entry.request.record_bytes);
  out.varint(entry.request.work_bytes);
}

JournalEntry read_entry(ByteReader& in) {
  JournalEntry entry;
  const std::uint8_t state = in.u8();
  const bool consolidated = (state & kStateMask) == kConsolidated;
  entry.state = consolidated ? EntryState::kWaiting : static_cast<EntryState>(state & kStateMask);
  entry.op = (state & kEntryDelete) != 0 ? Op::kDelete : Op::kUpsert;
  entry.for_all = (state & kEntryForAll) != 0;
  entry.order = read_order(in);
  entry.targets = TargetSet(in.varint());
  entry.number = in.varint();
  entry.urgency.priority = in.u8();
  entry.urgency.inserted = in.time();
  entry.urgency.process_at = (state & kEntryProcessAt) != 0 ? in.time() : entry.urgency.inserted;
  if ((state & kEntryExpiresAt) != 0) entry.urgency.expires_at = in.time();
  if ((state & kEntryTried) != 0) {
    entry.attempt = in.varint32();
    entry.timeouts = in.varint32();
    entry.losses = in.varint32();
    entry.retry_at = in.time();
    entry.taken_over = TargetSet(in.varint());
  }
  if (consolidated) entry.urgency.consolidate_until = in.time();
  if ((state & kEntryLease) != 0) {
    entry.lease_until = in.time();
    entry.dispatched_at = in.time();
  }
  entry.request.offset = in.offset();
  entry.request.timestamp = in.time();
  entry.request.hash = in.fixed64();
  entry.request.record_bytes = in.varint();
  entry.request.work_bytes = in.varint();
  in.require(state == state_of(entry));  // a part that should have been left out
  return entry;
}

bool entry_holds(const JournalEntry& entry) {
  const bool gone = entry.state == EntryState::kGone;
  const bool processing = entry.state == EntryState::kProcessing;
  if (entry.for_all && entry.op != Op::kDelete) return false;
  if (entry.targets.empty() && !(gone && entry.for_all)) return false;
  if (entry.number == 0 && !gone) return false;
  if (entry.urgency.process_at < entry.urgency.inserted) return false;
  const bool waits = entry.state == EntryState::kWaiting;
  const UnixMs never;
  if (entry.urgency.consolidate_until < never || (entry.urgency.consolidate_until != never && !waits)) return false;
  if (entry.retry_at < never || (entry.retry_at != never && !waits)) return false;
  if (entry.lease_until < never || (entry.lease_until != never && !processing)) return false;
  return entry.dispatched_at >= never && (entry.dispatched_at == never || entry.lease_until != never);
}

bool journal_holds(const Row& row) {
  const JournalEntry* before = nullptr;
  for (const JournalEntry& entry : row.journal) {
    if (!entry_holds(entry)) return false;
    const bool was_dispatched = entry.state != EntryState::kGone && entry.attempt > 0;
    if ((was_dispatched || entry.state == EntryState::kProcessing) && row.wanted(entry) != entry.targets) return false;
    const bool in_front = before == nullptr || (before->state == EntryState::kWaiting && before->order <= entry.order);
    if (entry.state == EntryState::kWaiting && !in_front) return false;
    before = &entry;
  }
  return true;
}

void write_journal(const Row& row, ByteWriter& out) {
  write_journal_head(head_of_entries(row), out);
  for (const JournalEntry& entry : row.journal) write_entry(entry, out);
}

std::uint8_t read_journal_priorities(ByteReader& list, DocumentPriorities& priorities) {
  const std::uint8_t bits = list.u8();
  list.require(bits <= kAllHeadBits);
  if ((bits & kSomeWait) != 0) priorities.waiting = list.u8();
  if ((bits & kSomeProcess) != 0) priorities.processing = list.u8();
  return bits;
}

JournalHead read_journal_head(ByteReader& list) {
  JournalHead head;
  const std::uint8_t bits = read_journal_priorities(list, head.priorities);
  if ((bits & kSomeLease) != 0) {
    head.lease_until = list.time();
    list.require(head.lease_until != UnixMs());
  }
  return head;
}

void read_journal(ByteReader& list, Row& row) {
  const JournalHead head = read_journal_head(list);
  do row.journal.push_back(read_entry(list));
  while (list.ok() && !list.rest().empty());
  list.require(head == head_of_entries(row));
}

}  // namespace reseq::codec
