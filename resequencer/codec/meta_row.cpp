// The value of the meta row (model/partition_state.h).
//
//   body      := clock varint | last varint | floor varint | count varint, (target u8 | floor varint)*
//                | default epoch varint
//                | count varint, (role u8 | next offset)*  | count varint, (role u8 | first offset | end offset)*
//                | now time | count varint, (generation varint | restore target offset)*
//                | digest: low fixed64, high fixed64 | live rows varint | watermarks varint
//                | sweep cursor bytes | swept from bytes | swept to bytes | config hash fixed64
//   extension 1 := nothing    the partition is paused; a version that does not know it must not go on
//   extension 2 := (role u8 | offset | timestamp time | hash fixed64)+    the last decided record of each input
//   extension 3 := capabilities varint                     a version that does not have all of them must not go on
//                  | count varint, (count u8 | sum varint)*      sums of rows that most states have none of, none 0
//                  | (kind u8 | until time | rows varint)*       what was done of the agenda, none 0
//                  | [0 u8 | count varint, offset*      of `requests`: what was let through by reference, and its
//                                         record was gone;
//                     | offset*]          what was put off, because its record could not be read;
//                                         behind something done, whose kinds rise, so that 0 is none of them
//                  left out when all of it is nothing
//   extension 4 := last number varint | answered varint      of the journal
//                  | (place u8 | count varint)*              of its release times, none 0
//                  left out when all of it is 0
//   extension 6 := (priority u8 | waiting varint | processing varint)+     documents by the most urgent priority of
//                                         what they wait for and have under way
//   extension 10 := number varint                          of lanes, the last one given out; left out when it is 0
//
// Invariants: versions < 2^63; floors by rising target, none 0; a role has one position and one pin; a range does not
// end before it begins; at most kMaxLineage generations, their numbers strictly rising; kinds of the agenda and both
// lists of offsets strictly rising; both are empty where nothing was done; priorities strictly rising, none with
// nothing.
#include <algorithm>

#include "codec/byte_writer.h"
#include "codec/keys.h"
#include "codec/row_frame.h"
#include "codec/rows.h"

namespace reseq::codec {
namespace {

constexpr std::uint64_t kPausedTag = 1;
constexpr std::uint64_t kPinsTag = 2;
constexpr std::uint64_t kWaitingTag = 3;
constexpr std::uint64_t kJournalNumbersTag = 4;
constexpr std::uint64_t kPrioritiesTag = 6;
constexpr std::uint64_t kBreakersTag = 8;
constexpr std::uint64_t kLanesTag = 10;  // no extension that is kept as it came can stand before it
constexpr std::uint8_t kNotRead = 0;
constexpr std::uint8_t kOpen = 1;  // of a breaker
constexpr std::uint8_t kUntilResume = 2;

bool lineage_holds(const Meta& meta) {
  const auto not_rising = [](const Generation& a, const Generation& b) { return a.number >= b.number; };
  return meta.lineage.size() <= kMaxLineage &&
         std::adjacent_find(meta.lineage.begin(), meta.lineage.end(), not_rising) == meta.lineage.end();
}

bool agenda_holds(const Meta& meta) {
  const auto not_rising = [](const AgendaDone& a, const AgendaDone& b) { return a.kind >= b.kind; };
  const auto nothing = [](const AgendaDone& done) { return done.rows == 0; };
  return std::none_of(meta.agenda.begin(), meta.agenda.end(), nothing) &&
         std::adjacent_find(meta.agenda.begin(), meta.agenda.end(), not_rising) == meta.agenda.end();
}

bool breaker_holds(const Breaker& one) {
  const bool pauses = one.pause >= Milliseconds(1) && one.pause <= kMaxBreakerPause;
  const bool knows = !one.counted.empty() || one.changed_behind != 0;
  return (one.open ? one.counted.empty() && pauses : knows && !one.until_resume) &&
         one.counted.size() <= kMaxBreakerDocuments && one.error.size() <= kMaxBreakerErrorBytes &&
         one.target.value() < kMaxTargets;
}

bool breakers_hold(const std::vector<Breaker>& breakers) {
  const auto not_rising = [](const Breaker& a, const Breaker& b) { return a.target.value() >= b.target.value(); };
  return std::all_of(breakers.begin(), breakers.end(), breaker_holds) &&
         std::adjacent_find(breakers.begin(), breakers.end(), not_rising) == breakers.end();
}

bool not_read_holds(const Meta& meta) {
  const auto rises = [](const std::vector<Offset>& list) {
    const auto not_rising = [](Offset a, Offset b) { return a >= b; };
    return std::adjacent_find(list.begin(), list.end(), not_rising) == list.end();
  };
  const bool none = meta.gone.empty() && meta.unreadable.empty();
  return rises(meta.gone) && rises(meta.unreadable) && (none || !meta.agenda.empty());
}

bool priorities_hold(const std::vector<PriorityCount>& priorities) {
  const auto not_rising = [](const PriorityCount& a, const PriorityCount& b) { return a.priority >= b.priority; };
  const auto nothing = [](const PriorityCount& one) { return one.waiting == 0 && one.processing == 0; };
  return std::none_of(priorities.begin(), priorities.end(), nothing) &&
         std::adjacent_find(priorities.begin(), priorities.end(), not_rising) == priorities.end();
}

template <typename OfInput>
bool each_role_once(const std::vector<OfInput>& list) {
  std::uint32_t roles = 0;
  for (const OfInput& one : list) {
    const std::uint32_t role = std::uint32_t{1} << static_cast<unsigned>(one.role);
    if ((roles & role) != 0) return false;
    roles |= role;
  }
  return true;
}

bool holds(const Meta& meta) {
  const auto version_holds = [](Version version) { return version.value() < kVersionLimit; };
  const PartitionState& state = meta.state;
  if (!version_holds(state.clock) || !version_holds(state.last) || !version_holds(state.floors.global)) return false;
  for (const auto& [target, floor] : state.floors.by_target)
    if (target.value() >= kMaxTargets || floor.value() == 0 || !version_holds(floor)) return false;
  if (!each_role_once(meta.positions) || !each_role_once(meta.pins)) return false;
  if (!breakers_hold(state.breakers)) return false;
  return std::all_of(meta.ranges.begin(), meta.ranges.end(),
                     [](const InputRange& range) { return range.first <= range.end; }) &&
         lineage_holds(meta) && agenda_holds(meta) && not_read_holds(meta) && priorities_hold(meta.summary.priorities);
}

void write_state(const PartitionState& state, ByteWriter& out) {
  out.varint(state.clock.value());
  out.varint(state.last.value());
  out.varint(state.floors.global.value());
  out.varint(state.floors.by_target.size());
  for (const auto& [target, floor] : state.floors.by_target) {
    out.u8(target.value());
    out.varint(floor.value());
  }
  out.varint(state.default_epoch.value());
}

PartitionState read_state(ByteReader& in) {
  PartitionState state;
  state.clock = Version(in.varint());
  state.last = Version(in.varint());
  state.floors.global = Version(in.varint());
  for (std::size_t count = in.count(); count > 0 && in.ok(); --count) {
    const TargetNumber target(in.u8());
    in.require(state.floors.by_target.empty() || state.floors.by_target.rbegin()->first < target);
    state.floors.by_target[target] = Version(in.varint());
  }
  state.default_epoch = Epoch(in.varint32());
  return state;
}

void write_inputs(const Meta& meta, ByteWriter& out) {
  out.varint(meta.positions.size());
  for (const InputPosition& position : meta.positions) {
    out.u8(static_cast<std::uint8_t>(position.role));
    out.offset(position.next);
  }
  out.varint(meta.ranges.size());
  for (const InputRange& range : meta.ranges) {
    out.u8(static_cast<std::uint8_t>(range.role));
    out.offset(range.first);
    out.offset(range.end);
  }
}

void read_inputs(Meta& meta, ByteReader& in) {
  for (std::size_t count = in.count(); count > 0 && in.ok(); --count) {
    const Role role = in.role();
    meta.positions.push_back({role, in.offset()});
  }
  for (std::size_t count = in.count(); count > 0 && in.ok(); --count) {
    const Role role = in.role();
    const Offset first = in.offset();
    meta.ranges.push_back({role, first, in.offset()});
  }
}

void read_lineage(Meta& meta, ByteReader& in) {
  for (std::size_t count = in.count(); count > 0 && in.ok(); --count) {
    const std::uint64_t number = in.varint();
    meta.lineage.push_back({number, in.offset()});
  }
}

// Writes the list that write(ByteWriter&) makes, unless it is empty.
template <typename Write>
void write_extension(std::uint64_t tag, ByteWriter& out, const Write& write) {
  std::string list;
  ByteWriter writer(list);
  write(writer);
  writer.finish();
  if (list.empty()) return;
  out.varint(tag);
  out.bytes(list);
}

// What a state has in which something waits.
void write_waiting(const Meta& meta, ByteWriter& out) {
  std::size_t counts = 0;
  meta.summary.counts.each_rare([&](Count, std::uint64_t) { ++counts; });
  if (meta.capabilities == 0 && counts == 0 && meta.agenda.empty()) return;
  out.varint(meta.capabilities);
  out.varint(counts);
  meta.summary.counts.each_rare([&](Count count, std::uint64_t sum) {
    out.u8(static_cast<std::uint8_t>(count));
    out.varint(sum);
  });
  for (const AgendaDone& done : meta.agenda) {
    out.u8(done.kind);
    out.time(done.until);
    out.varint(done.rows);
  }
  if (meta.gone.empty() && meta.unreadable.empty()) return;
  out.u8(kNotRead);
  out.varint(meta.gone.size());
  for (const Offset offset : meta.gone) out.offset(offset);
  for (const Offset offset : meta.unreadable) out.offset(offset);
}

void write_journal_numbers(const PartitionState& state, ByteWriter& out) {
  if (state.journal_number == 0 && state.journal_answered == 0 && state.release_times == ReleaseTimes()) return;
  out.varint(state.journal_number);
  out.varint(state.journal_answered);
  const ReleaseTimes::Counts& counts = state.release_times.counts();
  for (std::size_t place = 0; place < counts.size(); ++place) {
    if (counts[place] == 0) continue;
    out.u8(static_cast<std::uint8_t>(place));
    out.varint(counts[place]);
  }
}

void write_breakers(const std::vector<Breaker>& breakers, ByteWriter& out) {
  for (const Breaker& one : breakers) {
    out.u8(one.target.value());
    out.u8(static_cast<std::uint8_t>((one.open ? kOpen : 0U) | (one.until_resume ? kUntilResume : 0U)));
    out.varint(one.changed_behind);
    if (one.open) {
      out.time(one.opened_at);
      out.varint(one.probe);
      out.time(one.probe_at);
      out.varint(static_cast<std::uint64_t>(one.pause.value()));
    } else {
      out.varint(one.counted.size());
      for (const std::uint64_t document : one.counted) out.fixed64(document);
    }
    out.bytes(one.error);
  }
}

void write_extensions(const Meta& meta, ByteWriter& out) {
  if (meta.state.paused) {
    out.varint(kPausedTag);
    out.bytes({});
  }
  write_extension(kPinsTag, out, [&](ByteWriter& list) {
    for (const InputPin& pin : meta.pins) {
      list.u8(static_cast<std::uint8_t>(pin.role));
      list.offset(pin.offset);
      list.time(pin.timestamp);
      list.fixed64(pin.hash);
    }
  });
  write_extension(kWaitingTag, out, [&](ByteWriter& list) { write_waiting(meta, list); });
  write_extension(kJournalNumbersTag, out, [&](ByteWriter& list) { write_journal_numbers(meta.state, list); });
  write_extension(kPrioritiesTag, out, [&](ByteWriter& list) {
    for (const PriorityCount& one : meta.summary.priorities) {
      list.u8(one.priority);
      list.varint(one.waiting);
      list.varint(one.processing);
    }
  });
  write_extension(kBreakersTag, out, [&](ByteWriter& list) { write_breakers(meta.state.breakers, list); });
  write_extension(kLanesTag, out, [&](ByteWriter& list) {
    if (meta.state.lane_number != 0) list.varint(meta.state.lane_number);
  });
}

void read_pins(ByteReader& list, Meta& meta) {
  while (!list.rest().empty()) {
    InputPin& pin = meta.pins.emplace_back();
    pin.role = list.role();
    pin.offset = list.offset();
    pin.timestamp = list.time();
    pin.hash = list.fixed64();
  }
}

void read_not_read(ByteReader& list, Meta& meta) {
  for (std::size_t left = list.count(); left > 0 && list.ok(); --left) meta.gone.push_back(list.offset());
  while (list.ok() && !list.rest().empty()) meta.unreadable.push_back(list.offset());
  list.require(!meta.gone.empty() || !meta.unreadable.empty());
}

void read_waiting(ByteReader& list, Meta& meta) {
  meta.capabilities = list.varint();
  const std::size_t counts = list.count();
  for (std::size_t left = counts, least = kFirstRareCount; left > 0 && list.ok(); --left) {
    const std::size_t count = list.u8();
    if (list.ok() && count >= kCounts) list.fail(RowError::kUnknownMandatory);  // a later version's
    list.require(count >= least);
    const std::uint64_t sum = list.varint();
    list.require(sum != 0);
    if (list.ok()) meta.summary.counts[static_cast<Count>(count)] = sum;
    least = count + 1;
  }
  while (!list.rest().empty()) {
    const std::uint8_t kind = list.u8();
    if (kind == kNotRead && !meta.agenda.empty()) {
      read_not_read(list, meta);
      break;
    }
    AgendaDone& done = meta.agenda.emplace_back();
    done.kind = kind;
    done.until = list.time();
    done.rows = list.varint32();
  }
  list.require(meta.capabilities != 0 || counts != 0 || !meta.agenda.empty());
}

void read_journal_numbers(ByteReader& list, PartitionState& state) {
  state.journal_number = list.varint();
  state.journal_answered = list.varint();
  for (std::size_t least = 0; !list.rest().empty();) {
    const std::size_t place = list.u8();
    list.require(place >= least && place < state.release_times.counts().size());
    const auto count = static_cast<std::uint16_t>(list.varint(UINT16_MAX));
    list.require(count != 0);
    if (!list.ok()) return;
    state.release_times.at(place) = count;
    least = place + 1;
  }
  list.require(state.journal_number != 0 || state.journal_answered != 0 || state.release_times != ReleaseTimes());
}

void read_priorities(ByteReader& list, std::vector<PriorityCount>& priorities) {
  while (!list.rest().empty()) {
    PriorityCount& one = priorities.emplace_back();
    one.priority = list.u8();
    one.waiting = list.varint();
    one.processing = list.varint();
  }
}

void read_breakers(ByteReader& list, std::vector<Breaker>& breakers) {
  while (!list.rest().empty()) {
    Breaker& one = breakers.emplace_back();
    one.target = TargetNumber(list.u8());
    const std::uint8_t flags = list.u8();
    list.require(flags <= (kOpen | kUntilResume));
    one.open = (flags & kOpen) != 0;
    one.until_resume = (flags & kUntilResume) != 0;
    one.changed_behind = list.varint();
    if (one.open) {
      one.opened_at = list.time();
      one.probe = list.varint();
      one.probe_at = list.time();
      one.pause = Milliseconds(static_cast<std::int64_t>(list.varint(INT64_MAX)));
    } else {
      for (std::size_t left = list.count(); left > 0 && list.ok(); --left) one.counted.push_back(list.fixed64());
    }
    one.error = list.bytes();
    if (!list.ok()) return;
  }
  list.require(breakers_hold(breakers));
}

// Not inline: with -fsanitize=thread g++ 12 takes the error of the list for uninitialized there.
[[gnu::noinline]] void end_extension(const ByteReader& list, ByteReader& in) {
  if (list.error() == RowError::kUnknownMandatory) in.fail(RowError::kUnknownMandatory);
  in.require(list.ok() && list.rest().empty());
}

// Calls read(ByteReader&) with what an extension holds, if it is the next one. The tag takes one byte. An empty list is
// left out by who writes.
template <typename Read>
void read_extension(std::uint64_t tag, ByteReader& in, const Read& read) {
  if (in.rest().empty() || in.rest().front() != static_cast<char>(tag)) return;
  (void)in.varint();
  ByteReader list(in.bytes());
  list.require(!list.rest().empty());
  read(list);
  end_extension(list, in);
}

bool read_paused(ByteReader& in) {
  if (in.rest().empty() || in.rest().front() != static_cast<char>(kPausedTag)) return false;
  (void)in.varint();
  in.require(in.bytes().empty());
  return true;
}

// Those that this version knows are read, the others kept.
void read_meta_extensions(Meta& meta, ByteReader& in) {
  meta.state.paused = read_paused(in);
  read_extension(kPinsTag, in, [&](ByteReader& list) { read_pins(list, meta); });
  read_extension(kWaitingTag, in, [&](ByteReader& list) { read_waiting(list, meta); });
  read_extension(kJournalNumbersTag, in, [&](ByteReader& list) { read_journal_numbers(list, meta.state); });
  read_extension(kPrioritiesTag, in, [&](ByteReader& list) { read_priorities(list, meta.summary.priorities); });
  read_extension(kBreakersTag, in, [&](ByteReader& list) { read_breakers(list, meta.state.breakers); });
  read_extension(kLanesTag, in, [&](ByteReader& list) {
    meta.state.lane_number = list.varint();
    list.require(meta.state.lane_number != 0);
  });
  meta.extensions = read_extensions(in, kLanesTag + 1);
}

}  // namespace

void encode_meta(std::string_view key, const Meta& meta, std::string& out) {
  RESEQ_ASSERT(holds(meta), "a meta row that breaks its invariants");
  const std::size_t begin = out.size();
  ByteWriter writer(out);
  writer.u8(kRowFormat);
  write_state(meta.state, writer);
  write_inputs(meta, writer);
  writer.time(meta.now);
  writer.varint(meta.lineage.size());
  for (const Generation& generation : meta.lineage) {
    writer.varint(generation.number);
    writer.offset(generation.restore_target);
  }
  writer.fixed64(meta.summary.digest.low);
  writer.fixed64(meta.summary.digest.high);
  writer.varint(meta.summary.counts[Count::kLiveRows]);
  writer.varint(meta.summary.counts[Count::kWatermarks]);
  writer.bytes(meta.sweep_cursor);
  writer.bytes(meta.swept_from);
  writer.bytes(meta.swept_to);
  writer.fixed64(meta.config_hash);
  write_extensions(meta, writer);
  seal(key, meta.extensions, begin, writer);
}

Decoded<Meta> decode_meta(std::string_view key, std::string_view value) {
  if (key != meta_key()) return RowError::kInvalid;
  ByteReader in = open_frame(key, value);
  Meta meta;
  meta.state = read_state(in);
  read_inputs(meta, in);
  meta.now = in.time();
  read_lineage(meta, in);
  meta.summary.digest.low = in.fixed64();
  meta.summary.digest.high = in.fixed64();
  meta.summary.counts[Count::kLiveRows] = in.varint();
  meta.summary.counts[Count::kWatermarks] = in.varint();
  meta.sweep_cursor = in.bytes();
  meta.swept_from = in.bytes();
  meta.swept_to = in.bytes();
  meta.config_hash = in.fixed64();
  read_meta_extensions(meta, in);
  if (!in.ok()) return *in.error();
  if (!holds(meta)) return RowError::kInvalid;
  return meta;
}

}  // namespace reseq::codec
