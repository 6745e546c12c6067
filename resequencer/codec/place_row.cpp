#include "codec/place_row.h"

#include <algorithm>

#include "base/assert.h"
#include "base/big_endian.h"
#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/keys.h"
#include "codec/row_frame.h"
#include "codec/row_journal.h"
#include "codec/row_order.h"
#include "model/effects.h"

namespace reseq::codec {
namespace {

constexpr std::uint8_t kHasEnded = 2;
constexpr std::uint8_t kIsTotal = 4;
constexpr std::uint8_t kHasDue = 8;
constexpr std::uint8_t kUnknownFlags = 1 | 16 | 32;
constexpr std::uint8_t kMarks = 64;
constexpr std::uint8_t kHasEntry = 128;
// Of the note of a result.
constexpr std::uint8_t kDeletes = 1;
constexpr std::uint8_t kHasObserved = 2;

void append_sorting(const Order& order, std::string& out) {
  append_big_endian(order.epoch.value(), out);
  for (const char byte : order.sequence.bytes()) {
    out.push_back(byte);
    if (byte == '\0') out.push_back('\xFF');
  }
  out.append(2, '\0');
  append_big_endian(order.revision.value(), out);
}

std::uint8_t flags_of(const PlaceRow& place) {
  unsigned flags = place.ended ? kHasEnded : 0U;
  if (place.total) flags |= kIsTotal;
  if (place.due) flags |= kHasDue;
  if (!place.reason.empty()) flags |= kMarks;
  if (place.queued) flags |= kHasEntry;
  return static_cast<std::uint8_t>(flags);
}

bool holds(const PlaceRow& place) {
  if (!place.ended && !place.reason.empty()) return false;
  if (place.reason.empty() && place.attempts != 0) return false;
  if (place.queued.has_value() != (place.document != 0)) return false;
  if (place.queued &&
      (place.ended || place.queued->order != place.order || place.queued->targets != TargetSet::of(place.target) ||
       !entry_holds(*place.queued) || place.queued->state != EntryState::kWaiting))
    return false;
  if (place.due && *place.due < UnixMs()) return false;
  if (place.ended && place.is_waited_for()) return false;
  return !place.id.empty() && place.id.size() <= kMaxIdBytes && place.number > 0 && place.bytes > 0;
}

// What stands before the extensions.
void read_body(ByteReader& in, PlaceRow& place) {
  const std::uint8_t flags = in.u8();
  in.require((flags & kUnknownFlags) == 0);
  place.ended = (flags & kHasEnded) != 0;
  place.total = (flags & kIsTotal) != 0;
  place.target = TargetNumber(in.u8());
  in.require(place.target.value() < kMaxTargets);
  place.order = read_order(in);
  place.id = in.bytes();
  place.number = in.varint();
  place.request = in.offset();
  place.bytes = in.varint();
  place.dispatched_at = in.time();
  if ((flags & kHasDue) != 0) place.due = in.time();
  if ((flags & kMarks) != 0) {
    place.reason = in.bytes();
    place.attempts = in.varint32();
    in.require(!place.reason.empty());
  }
  if ((flags & kHasEntry) == 0) return;
  place.document = in.varint();
  place.queued = read_entry(in);
}

void each_entry_of_queued(std::string_view body, const EntryVisit& visit) {
  ByteReader in(body);
  PlaceRow place;
  read_body(in, place);
  if (!in.ok() || !place.queued) return;
  visit(kQueuedIndex, queued_entry(place.document, place.target, place.number));
  std::string sent;
  append_big_endian(static_cast<std::uint64_t>(ages_from(*place.queued).value()), sent);
  visit(kSentIndex, sent);
}

}  // namespace

std::string lane_rank(TargetNumber target, std::uint64_t document_number) {
  std::string rank(1, static_cast<char>(target.value()));
  append_big_endian(document_number, rank);
  return rank;
}

std::string place_rank(TargetNumber target, std::uint64_t document_number, const Order& order) {
  std::string rank = lane_rank(target, document_number);
  append_sorting(order, rank);
  return rank;
}

std::string place_key(std::uint8_t gate, std::string_view rank) {
  std::string key = held_key(gate, rank);
  key[0] = static_cast<char>(KeyType::kPlace);
  return key;
}

std::string held_key_of_place(std::string_view place_key) {
  std::string key(place_key);
  key[0] = static_cast<char>(KeyType::kHeld);
  return key;
}

void encode_place(std::string_view key, const PlaceRow& place, std::string& out) {
  RESEQ_ASSERT(holds(place), "a place that breaks its invariants");
  const std::size_t begin = out.size();
  ByteWriter writer(out);
  writer.u8(kRowFormat);
  writer.u8(flags_of(place));
  writer.u8(place.target.value());
  write_order(place.order, writer);
  writer.bytes(place.id);
  writer.varint(place.number);
  writer.offset(place.request);
  writer.varint(place.bytes);
  writer.time(place.dispatched_at);
  if (place.due) writer.time(*place.due);
  if (!place.reason.empty()) {
    writer.bytes(place.reason);
    writer.varint(place.attempts);
  }
  if (!place.queued) return seal(key, place.extensions, begin, writer);
  writer.varint(place.document);
  write_entry(*place.queued, writer);
  seal(key, place.extensions, begin, writer);
}

Decoded<PlaceRow> decode_place(std::string_view key, std::string_view value) {
  ByteReader in = open_frame(key, value);
  PlaceRow place;
  read_body(in, place);
  place.extensions = read_extensions(in);
  if (!in.ok()) return *in.error();
  std::string order;
  append_sorting(place.order, order);
  if (!holds(place) || !key.ends_with(order)) return RowError::kInvalid;
  return place;
}

// Each place is asked for them three times at least, so only what they need is read of it.
void each_place_entry(std::string_view value, const EntryVisit& visit) {
  if (value.size() < 1 + kChecksumBytes) return;
  const std::string_view body = value.substr(1, value.size() - 1 - kChecksumBytes);
  ByteReader in(body);
  const std::uint8_t flags = in.u8();
  const TargetNumber target(in.u8());
  skip_order(in);
  (void)in.bytes();  // the id
  const std::uint64_t number = in.varint();
  skip_varint(in);  // where its request is,
  skip_varint(in);  // the bytes of that,
  skip_varint(in);  // and when it went to `work`
  const UnixMs due = (flags & kHasDue) != 0 ? in.time() : UnixMs();
  if (!in.ok()) return;
  if ((flags & kIsTotal) != 0) visit(kLaneIndex, lane_entry(target, number));
  if ((flags & kHasEntry) != 0) each_entry_of_queued(body, visit);
  if ((flags & kHasDue) == 0) return;
  std::string head;
  const bool leaves = due == UnixMs();
  append_big_endian(leaves ? number : static_cast<std::uint64_t>(due.value()), head);
  visit(leaves ? kReadyIndex : kGapIndex, head);
}

std::string encode_result_note(const ResultNote& note) {
  std::string out;
  if (note == ResultNote()) return out;
  ByteWriter writer(out);
  const unsigned flags = (note.op == Op::kDelete ? kDeletes : 0U) | (note.observed ? kHasObserved : 0U);
  writer.u8(static_cast<std::uint8_t>(flags));
  if (note.observed) writer.fixed64(note.observed->value());
  writer.finish();
  return out;
}

ResultNote decode_result_note(std::string_view bytes) {
  ResultNote note;
  if (bytes.empty()) return note;
  ByteReader in(bytes);
  const std::uint8_t flags = in.u8();
  if ((flags & kDeletes) != 0) note.op = Op::kDelete;
  const Version observed((flags & kHasObserved) != 0 ? in.fixed64() : 0);
  if (in.ok() && (flags & kHasObserved) != 0) note.observed = observed;
  return note;
}

CountSet count_place(std::string_view value) {
  constexpr std::size_t kFlagsAt = 1;  // behind the format
  const bool queued = value.size() > kFlagsAt && (static_cast<std::uint8_t>(value[kFlagsAt]) & kHasEntry) != 0;
  return queued ? CountSet::of(Count::kPlaces) | CountSet::of(Count::kQueued) : CountSet::of(Count::kPlaces);
}

std::string queued_entry(std::uint64_t document, TargetNumber target, std::uint64_t number) {
  std::string entry;
  append_big_endian(document, entry);
  entry.push_back(static_cast<char>(target.value()));
  append_big_endian(number, entry);
  return entry;
}

std::string lane_entry(TargetNumber target, std::uint64_t number) {
  return lane_rank(target, number);
}

std::optional<std::uint64_t> number_in_lane(std::string_view entry, TargetNumber target) {
  if (entry.size() != 1 + sizeof(std::uint64_t) || entry.front() != static_cast<char>(target.value()))
    return std::nullopt;
  return read_big_endian(entry.substr(1));
}

}  // namespace reseq::codec
