#include "codec/row_extensions.h"

#include <string>

#include "codec/row_frame.h"
#include "codec/row_journal.h"
#include "codec/row_order.h"

namespace reseq::codec {
namespace {

// Tags of extensions.
constexpr std::uint64_t kDeletions = 0;  // no other can stand before it
constexpr std::uint64_t kMeanwhile = 4;
constexpr std::uint64_t kOvertaken = 6;
constexpr std::uint64_t kFailures = 8;
constexpr std::uint64_t kContent = 12;
constexpr std::uint64_t kLanes = 14;
constexpr std::uint8_t kForGood = 1;  // of a failure
constexpr std::uint8_t kEffectUnknown = 2;
constexpr std::uint8_t kExhausted = 3;

void write_deletions(const Row& row, ByteWriter& writer) {
  if (row.deletions.empty()) return;
  std::string bytes;
  ByteWriter list(bytes);
  for (const Deletion& deletion : row.deletions) {
    list.varint(deletion.target.value());
    write_order(deletion.order, list);
    list.time(deletion.at);
  }
  list.finish();
  writer.varint(kDeletions);
  writer.bytes(bytes);
}

// Bytes of those of a list that stand in front of a tag.
std::size_t bytes_before(std::uint64_t tag, std::string_view extensions) {
  ByteReader list(extensions);
  std::size_t before = 0;
  while (!list.rest().empty() && list.varint() < tag) {
    (void)list.bytes();
    before = extensions.size() - list.rest().size();
  }
  return before;
}

// Each behind those of `kept`, which this version does not know, that stand in front of it. `write`: of its content.
template <typename Write>
void write_extension(std::uint64_t tag, std::string_view& kept, ByteWriter& writer, const Write& write) {
  const std::size_t before = bytes_before(tag, kept);
  writer.raw(kept.substr(0, before));
  kept.remove_prefix(bytes_before(tag + 1, kept));  // one of before, which counts for nothing, has had its time
  std::string bytes;
  ByteWriter list(bytes);
  write(list);
  list.finish();
  writer.varint(tag);
  writer.bytes(bytes);
}

void write_failure(const Failure& one, ByteWriter& list) {
  list.varint(one.targets.bits());
  write_order(one.order, list);
  list.varint(one.attempt);
  list.varint(one.retries);
  list.varint(one.repeats);
  list.u8(one.effect_unknown ? kEffectUnknown : one.exhausted ? kExhausted : one.for_good ? kForGood : 0);
  list.time(one.at);
  list.bytes(one.error);
}

void read_deletions(std::string_view bytes, Row& row, ByteReader& in) {
  ByteReader list(bytes);
  TargetSet seen;
  list.require(!bytes.empty());
  while (!list.rest().empty()) {
    const TargetNumber target(static_cast<std::uint8_t>(list.varint(kMaxTargets - 1)));
    list.require(!seen.contains(target));
    seen |= TargetSet::of(target);
    const Order order = read_order(list);
    row.deletions.push_back({target, order, list.time()});
  }
  if (!list.ok()) in.fail(*list.error());
}

// A list whose entries begin with sets of targets. `read`: the rest of one, with its set.
template <typename Read>
void read_by_targets(std::string_view bytes, ByteReader& in, const Read& read) {
  ByteReader list(bytes);
  list.require(!bytes.empty());
  while (!list.rest().empty()) {
    const TargetSet targets(list.varint());
    list.require(!targets.empty());
    read(targets, list);
  }
  in.require(list.ok());
}

void read_meanwhile(std::string_view bytes, Row& row, ByteReader& in) {
  read_by_targets(bytes, in, [&](TargetSet targets, ByteReader& list) {
    row.meanwhile.push_back({targets, list.time()});
  });
}

void read_overtaken(std::string_view bytes, Row& row, ByteReader& in) {
  read_by_targets(bytes, in, [&](TargetSet targets, ByteReader& list) {
    const Order began = read_order(list);
    row.overtaken.push_back({targets, began, list.time()});
  });
}

void read_failures(std::string_view bytes, Row& row, ByteReader& in) {
  read_by_targets(bytes, in, [&](TargetSet targets, ByteReader& list) {
    Failure one;
    one.targets = targets;
    one.order = read_order(list);
    one.attempt = list.varint32();
    one.retries = list.varint32();
    one.repeats = list.varint32();
    const std::uint8_t end = list.u8();
    list.require(end <= kExhausted);
    one.for_good = end != 0;
    one.effect_unknown = end == kEffectUnknown;
    one.exhausted = end == kExhausted;
    one.at = list.time();
    one.error = list.bytes();
    row.failures.push_back(one);
  });
}

// Returns whether it is of the newest request. Of another one it was left behind by a version that does not know of it.
bool read_content(std::string_view bytes, Row& row, ByteReader& in) {
  ByteReader list(bytes);
  const Offset position = list.offset();
  Digest content;
  content.low = list.fixed64();
  content.high = list.fixed64();
  list.require(list.rest().empty() && content != Digest());
  in.require(list.ok());
  if (!row.requested || row.requested->position != position) return false;
  row.requested->content = content;
  return true;
}

void read_lanes(std::string_view bytes, Row& row, ByteReader& in) {
  ByteReader list(bytes);
  const std::uint64_t number = list.varint();
  list.require(number != 0 && !list.rest().empty());
  for (std::size_t least = 0; list.ok() && !list.rest().empty();) {
    Lane lane;
    lane.document = number;
    lane.target = TargetNumber(list.u8());
    list.require(lane.target.value() >= least && lane.target.value() < kMaxTargets);
    least = std::size_t{lane.target.value()} + 1;
    lane.places = list.varint();
    lane.mark = read_order(list);
    row.lanes.push_back(lane);
  }
  in.require(list.ok());
}

void read_journal_extension(std::string_view bytes, Row& row, ByteReader& in) {
  ByteReader list(bytes);
  read_journal(list, row);
  in.require(list.ok());
}

}  // namespace

std::string_view write_row_extensions(const Row& row, ByteWriter& writer) {
  write_deletions(row, writer);
  std::string_view kept = row.extensions.view();
  if (!row.meanwhile.empty())
    write_extension(kMeanwhile, kept, writer, [&](ByteWriter& list) {
      for (const Meanwhile& one : row.meanwhile) {
        list.varint(one.targets.bits());
        list.time(one.released);
      }
    });
  if (!row.overtaken.empty())
    write_extension(kOvertaken, kept, writer, [&](ByteWriter& list) {
      for (const Overtaken& one : row.overtaken) {
        list.varint(one.targets.bits());
        write_order(one.began, list);
        list.time(one.first_registered);
      }
    });
  if (!row.failures.empty())
    write_extension(kFailures, kept, writer, [&](ByteWriter& list) {
      for (const Failure& one : row.failures) write_failure(one, list);
    });
  if (!row.journal.empty())
    write_extension(kJournalTag, kept, writer, [&](ByteWriter& list) { write_journal(row, list); });
  if (row.requested && row.requested->content != Digest())
    write_extension(kContent, kept, writer, [&](ByteWriter& list) {
      list.offset(row.requested->position);
      list.fixed64(row.requested->content.low);
      list.fixed64(row.requested->content.high);
    });
  if (!row.lanes.empty())
    write_extension(kLanes, kept, writer, [&](ByteWriter& list) {
      list.varint(row.lane_number());
      for (const Lane& lane : row.lanes) {
        list.u8(lane.target.value());
        list.varint(lane.places);
        write_order(lane.mark, list);
      }
    });
  return kept;
}

void read_row_extensions(Row& row, ByteReader& in) {
  if (in.rest().empty()) return;  // most of them
  const std::string_view all = read_extensions(in, 0, kJournalTag);
  for (ByteReader list(all); !list.rest().empty();) {
    const std::string_view from = list.rest();
    const std::uint64_t tag = list.varint();
    const std::string_view bytes = list.bytes();
    if (tag == kDeletions)
      read_deletions(bytes, row, in);
    else if (tag == kMeanwhile)
      read_meanwhile(bytes, row, in);
    else if (tag == kOvertaken)
      read_overtaken(bytes, row, in);
    else if (tag == kFailures)
      read_failures(bytes, row, in);
    else if (tag == kJournalTag)
      read_journal_extension(bytes, row, in);
    else if (tag == kLanes)
      read_lanes(bytes, row, in);
    else if (tag != kContent || !read_content(bytes, row, in))
      row.extensions += from.substr(0, from.size() - list.rest().size());
  }
}

}  // namespace reseq::codec
