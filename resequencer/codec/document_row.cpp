// The value of a document's row. Parts that are absent cost nothing; what a row usually repeats is said by a flag that
// is not set.
//
//   body       := flags varint | [id] [barrier] count varint, group* | [since list] [version] [deadline] [requested]
//   flags      := 1 a target is pending, or an order waits in the journal (the row is live; without it: a watermark)
//                 2 id     4 barrier     8 since     16 last version     32 deadline     64 requested
//                 128 overdue     256 requested has an order of its own     512 requested has targets of its own
//                 1024 journal
//   id         := bytes                      only under a hashed key
//   barrier    := order
//   group      := order | sets u8 | [pending] [served] [removed]              newest first, orders strictly falling
//   sets       := 1 requested     2 pending     4 served     8 removed        a set is a varint of bits, never 0
//   since list := count varint, (targets varint | time varint)*               sets disjoint, never 0
//   version    := fixed64          deadline := time varint
//   requested  := [order] position offset | payload hash fixed64 | [targets varint]
//                 order: without its flag that of the newest group; targets: without it those known to that group
//   extension 0 := (target varint | order | time varint)+            last releases that were deletes, each target once
//   extension 4 := (targets varint | time varint)+                  last releases of waiting targets; sets disjoint
//   extension 6 := (targets varint | order | time varint)+          with which order waits began that were overtaken
//   extension 8 := (targets varint | order | attempt varint | retries varint | repeats varint | for good u8
//                   | time varint | error bytes)+                   what workers could not do; sets disjoint
//   extension 9 := journal                                          must be understood; grammar in row_journal.h
//   extension 12 := position offset | content fixed64 fixed64       what the request at this place asks for; while that
//                                                                   is `requested`
//   extension 14 := number varint | (target u8 | places varint | mark order)+    lanes of ordered targets, by target
//   order       :  grammar in row_order.h
//
// A live row without pending targets has no deadline: nothing of it can be overdue.
#include "base/big_endian.h"
#include "codec/byte_writer.h"
#include "codec/keys.h"
#include "codec/row_extensions.h"
#include "codec/row_frame.h"
#include "codec/row_journal.h"
#include "codec/row_order.h"
#include "codec/rows.h"

namespace reseq::codec {
namespace {

constexpr std::uint64_t kLive = 1;
constexpr std::uint64_t kId = 2;
constexpr std::uint64_t kBarrier = 4;
constexpr std::uint64_t kSince = 8;
constexpr std::uint64_t kVersion = 16;
constexpr std::uint64_t kDeadline = 32;
constexpr std::uint64_t kRequested = 64;
constexpr std::uint64_t kOverdue = 128;
constexpr std::uint64_t kRequestedOrder = 256;
constexpr std::uint64_t kRequestedTargets = 512;
constexpr std::uint64_t kJournal = std::uint64_t{kJournalFlag} << 7U;
constexpr std::uint64_t kAllFlags = 2047;
static_assert(kAllFlags < 1U << 14U, "has_journal() looks at two bytes");

constexpr std::uint8_t kSetRequested = 1;
constexpr std::uint8_t kSetPending = 2;
constexpr std::uint8_t kSetServed = 4;
constexpr std::uint8_t kSetRemoved = 8;
constexpr std::uint8_t kAllSetFlags = 15;

void write_group(const Group& group, ByteWriter& out) {
  write_order(group.order, out);
  unsigned sets = group.requested ? kSetRequested : 0U;
  if (!group.pending.empty()) sets |= kSetPending;
  if (!group.served.empty()) sets |= kSetServed;
  if (!group.removed.empty()) sets |= kSetRemoved;
  out.u8(static_cast<std::uint8_t>(sets));
  for (const TargetSet set : {group.pending, group.served, group.removed})
    if (!set.empty()) out.varint(set.bits());
}

TargetSet read_set(bool present, ByteReader& in) {
  if (!present) return {};
  const TargetSet set(in.varint());
  in.require(!set.empty());
  return set;
}

Group read_group(ByteReader& in) {
  Group group;
  group.order = read_order(in);
  const std::uint8_t sets = in.u8();
  in.require(sets <= kAllSetFlags);
  group.requested = (sets & kSetRequested) != 0;
  group.pending = read_set((sets & kSetPending) != 0, in);
  group.served = read_set((sets & kSetServed) != 0, in);
  group.removed = read_set((sets & kSetRemoved) != 0, in);
  return group;
}

TargetSet known_to_newest(const Row& row) {
  return row.groups.empty() ? TargetSet() : row.groups.front().known();
}

// The invariants of model/row.h that bytes can break.
bool groups_hold(const Row& row) {
  TargetSet newer;
  const Group* before = nullptr;
  for (const Group& group : row.groups) {
    if (before != nullptr && !(before->order > group.order)) return false;
    if (group.known().empty()) return false;
    if (!(group.pending & group.served).empty() || !(group.pending & group.removed).empty() ||
        !(group.served & group.removed).empty())
      return false;
    if (!((group.pending | group.removed) & newer).empty()) return false;
    newer |= group.known();
    before = &group;
  }
  return true;
}

// Not inline: nearly no row has any.
[[gnu::noinline]] bool failures_hold(const Row& row) {
  const TargetSet ordered = row.in_lanes();
  TargetSet failed;
  for (const Failure& one : row.failures) {
    if (one.targets.empty() || !(one.targets & failed).empty() || one.error.size() > kMaxErrorBytes) return false;
    failed |= one.targets.without(ordered);
  }
  return true;
}

bool holds(const Row& row) {
  TargetSet waiting;
  for (const Since& since : row.since) {
    if (since.targets.empty() || !(since.targets & waiting).empty()) return false;
    waiting |= since.targets;
  }
  TargetSet served;
  for (const Meanwhile& one : row.meanwhile) {
    if (one.targets.empty() || !(one.targets & served).empty()) return false;
    served |= one.targets;
  }
  TargetSet overtaken;
  for (const Overtaken& one : row.overtaken) {
    if (one.targets.empty() || !(one.targets & overtaken).empty()) return false;
    overtaken |= one.targets;
  }
  if (!row.failures.empty() && !failures_hold(row)) return false;
  if (!row.journal.empty()) {
    if (!journal_holds(row)) return false;
    if (row.live() && row.completed() && row.deadline != UnixMs()) return false;
  }
  return row.last_version.value() < kVersionLimit && groups_hold(row);
}

std::uint64_t flags_of(const Row& row, bool hashed) {
  std::uint64_t flags = row.live() ? kLive : 0;
  if (hashed) flags |= kId;
  if (row.barrier) flags |= kBarrier;
  if (!row.since.empty()) flags |= kSince;
  if (row.last_version.value() != 0) flags |= kVersion;
  if (row.deadline.value() != 0) flags |= kDeadline;
  if (row.overdue) flags |= kOverdue;
  if (!row.journal.empty()) flags |= kJournal;
  if (!row.requested) return flags;
  flags |= kRequested;
  if (row.groups.empty() || row.requested->order != row.groups.front().order) flags |= kRequestedOrder;
  if (row.requested->forwarded != known_to_newest(row)) flags |= kRequestedTargets;
  return flags;
}

void write_requested(const Requested& requested, std::uint64_t flags, ByteWriter& out) {
  if ((flags & kRequestedOrder) != 0) write_order(requested.order, out);
  out.offset(requested.position);
  out.fixed64(requested.hash.value());
  if ((flags & kRequestedTargets) != 0) out.varint(requested.forwarded.bits());
}

Requested read_requested(const Row& row, std::uint64_t flags, ByteReader& in) {
  Requested requested;
  if ((flags & kRequestedOrder) != 0)
    requested.order = read_order(in);
  else if (!row.groups.empty())
    requested.order = row.groups.front().order;
  requested.position = in.offset();
  requested.hash = PayloadHash(in.fixed64());
  requested.forwarded = (flags & kRequestedTargets) != 0 ? TargetSet(in.varint()) : known_to_newest(row);
  return requested;
}

void write_body(DocumentId id, const Row& row, ByteWriter& writer) {
  const std::uint64_t flags = flags_of(row, key_is_hashed(id));
  writer.u8(kRowFormat);
  writer.varint(flags);
  if ((flags & kId) != 0) writer.bytes(id);
  if (row.barrier) write_order(*row.barrier, writer);
  writer.varint(row.groups.size());
  for (const Group& group : row.groups) write_group(group, writer);
  if (!row.since.empty()) {
    writer.varint(row.since.size());
    for (const Since& since : row.since) {
      writer.varint(since.targets.bits());
      writer.time(since.first_registered);
    }
  }
  if ((flags & kVersion) != 0) writer.fixed64(row.last_version.value());
  if ((flags & kDeadline) != 0) writer.time(row.deadline);
  if (row.requested) write_requested(*row.requested, flags, writer);
}

void read_body(std::uint64_t flags, Row& row, ByteReader& in) {
  if ((flags & kBarrier) != 0) row.barrier = read_order(in);
  for (std::size_t groups = in.count(); groups > 0 && in.ok(); --groups) row.groups.push_back(read_group(in));
  if ((flags & kSince) != 0) {
    for (std::size_t count = in.count(); count > 0 && in.ok(); --count) {
      const TargetSet targets(in.varint());
      row.since.push_back({targets, in.time()});
    }
  }
  if ((flags & kVersion) != 0) row.last_version = Version(in.fixed64());
  if ((flags & kDeadline) != 0) row.deadline = in.time();
  row.overdue = (flags & kOverdue) != 0;
  if ((flags & kRequested) != 0) row.requested = read_requested(row, flags, in);
}

[[gnu::always_inline]] inline void skip_group(ByteReader& in) {
  skip_order(in);
  const std::uint8_t sets = in.u8();
  for (const std::uint8_t set : {kSetPending, kSetServed, kSetRemoved})
    if ((sets & set) != 0) skip_varint(in);
}

// What read_body reads in front of the deadline, without making a row of it: each row that is kept is asked for its
// timer.
[[gnu::always_inline]] inline void skip_to_deadline(std::uint64_t flags, ByteReader& in) {
  if ((flags & kBarrier) != 0) skip_order(in);
  for (std::size_t groups = in.count(); groups > 0 && in.ok(); --groups) skip_group(in);
  if ((flags & kSince) != 0) {
    for (std::size_t count = in.count(); count > 0 && in.ok(); --count) {
      skip_varint(in);
      skip_varint(in);
    }
  }
  if ((flags & kVersion) != 0) (void)in.raw(sizeof(std::uint64_t));
}

// The same up to the extensions.
void skip_body(std::uint64_t flags, ByteReader& in) {
  skip_to_deadline(flags, in);
  if ((flags & kDeadline) != 0) skip_varint(in);
  if ((flags & kRequested) == 0) return;
  if ((flags & kRequestedOrder) != 0) skip_order(in);
  skip_varint(in);
  (void)in.raw(sizeof(std::uint64_t));
  if ((flags & kRequestedTargets) != 0) skip_varint(in);
}

inline bool is_live(std::string_view value) {
  RESEQ_ASSERT(value.size() >= kRowBytesMin, "the kind of something that is no row");
  return (static_cast<std::uint8_t>(value[1]) & kLive) != 0;
}

// Between format and checksum.
ByteReader body_of(std::string_view value) {
  const bool is_row = value.size() > 1 + kChecksumBytes;
  return ByteReader(is_row ? value.substr(1, value.size() - 1 - kChecksumBytes) : std::string_view());
}

// Empty when there is no journal. Not inline: nearly no row has one.
[[gnu::noinline]] std::string_view journal_list(std::string_view value) {
  if (!has_journal(value)) return {};
  ByteReader in = body_of(value);
  const std::uint64_t flags = in.varint();
  if ((flags & kId) != 0) (void)in.bytes();
  skip_body(flags, in);
  while (!in.rest().empty()) {
    const std::uint64_t tag = in.varint();
    const std::string_view list = in.bytes();
    if (tag == kJournalTag) return list;
  }
  return {};
}

[[gnu::noinline]] CountSet with_journal(CountSet counted, const DocumentPriorities& priorities) {
  if (priorities.waiting) counted = counted | CountSet::of(Count::kWaiting);
  if (priorities.processing) counted = counted | CountSet::of(Count::kProcessing);
  return counted;
}

// `name` is what the key says of the id: all of it, or its prefix when the key is hashed. `id` becomes the one that the
// value says, empty when it says none.
std::optional<RowError> read_document(bool hashed, std::string_view name, std::string_view key, std::string_view value,
                                      Row& row, std::string_view& id) {
  ByteReader in = open_frame(key, value);
  if (!in.ok()) return in.error();
  const std::uint64_t flags = in.varint();
  if (in.ok() && flags > kAllFlags) return RowError::kUnknownFormat;
  if ((flags & kId) != 0) {
    id = in.bytes();
    in.require(id.size() <= kMaxIdBytes && id.substr(0, kHashedPrefixBytes) == name && key_is_hashed(id));
  }
  read_body(flags, row, in);
  read_row_extensions(row, in);
  if (!in.ok()) return in.error();
  // What the flags say must be what an encoder would have said: one row, one encoding.
  if (!holds(row) || flags != flags_of(row, hashed)) return RowError::kInvalid;
  return std::nullopt;
}

std::optional<RowError> decode_into(DocumentRow& found, std::string_view key, std::string_view value) {
  auto parsed = parse_key(key);
  if (!parsed || parsed->type != KeyType::kDocument) return RowError::kInvalid;
  std::string_view id;
  if (const auto error = read_document(parsed->hashed, parsed->name, key, value, found.row, id)) return error;
  found.id = parsed->hashed ? std::string(id) : std::move(parsed->name);
  return std::nullopt;
}

}  // namespace

void encode_row(std::string_view key, DocumentId id, const Row& row, std::string& out) {
  RESEQ_ASSERT(holds(row), "a row that breaks its invariants");
  const std::size_t begin = out.size();
  ByteWriter writer(out);
  write_body(id, row, writer);
  seal(key, write_row_extensions(row, writer), begin, writer);
}

Decoded<DocumentRow> decode_row(std::string_view key, std::string_view value) {
  Decoded<DocumentRow> decoded;  // the row is made in its place: it is some hundred bytes
  if (const auto error = decode_into(std::get<DocumentRow>(decoded), key, value)) decoded = *error;
  return decoded;
}

std::optional<RowError> decode_row_of(DocumentId id, std::string_view key, std::string_view value, Row& row,
                                      bool& of_another) {
  const bool hashed = key_is_hashed(id);
  std::string_view owner;
  const std::string_view name = hashed ? id.substr(0, kHashedPrefixBytes) : id;
  if (const auto error = read_document(hashed, name, key, value, row, owner)) return error;
  of_another = hashed && owner != id;
  return std::nullopt;
}

bool is_watermark(std::string_view value) {
  return !is_live(value);
}

CountSet count_document(std::string_view value) {
  const CountSet counted = CountSet::of(is_live(value) ? Count::kLiveRows : Count::kWatermarks);
  return has_journal(value) ? with_journal(counted, priorities_of(value)) : counted;
}

CountSet count_document(std::string_view value, const DocumentPriorities& priorities) {
  return with_journal(CountSet::of(is_live(value) ? Count::kLiveRows : Count::kWatermarks), priorities);
}

DocumentPriorities priorities_of(std::string_view value) {
  DocumentPriorities priorities;
  ByteReader list(journal_list(value));
  if (!list.rest().empty()) (void)read_journal_priorities(list, priorities);
  return priorities;
}

void each_document_entry(std::string_view value, const EntryVisit& visit) {
  ByteReader list(journal_list(value));
  if (list.rest().empty()) return;
  const UnixMs lease_until = read_journal_head(list).lease_until;
  if (lease_until == UnixMs()) return;
  std::string bytes;
  append_big_endian(static_cast<std::uint64_t>(lease_until.value()), bytes);
  visit(kLeaseIndex, bytes);
}

std::optional<UnixMs> timer_of(std::string_view value) {
  ByteReader in = body_of(value);
  const std::uint64_t flags = in.varint();
  if ((flags & (kLive | kDeadline | kOverdue)) != (kLive | kDeadline)) return std::nullopt;
  if ((flags & kId) != 0) (void)in.bytes();
  skip_to_deadline(flags, in);
  const UnixMs deadline = in.time();
  if (!in.ok()) return std::nullopt;
  return std::max(deadline, UnixMs());  // what stands in front of the timers of a copy on disk is no time
}

}  // namespace reseq::codec
