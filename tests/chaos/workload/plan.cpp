#include "tests/chaos/workload/plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "codec/hash.h"
#include "codec/header_names.h"
#include "tests/chaos/workload/draws.h"

namespace reseq::chaos {

namespace header = codec::header;

namespace {

constexpr std::uint64_t kResetEvery = 20'000;  // requests of the first producer
constexpr std::uint64_t kHotOctaves = 8;       // 255 hot documents of each producer
constexpr std::uint64_t kSoon = 200;           // how far back a repetition reaches, in requests of its producer
constexpr std::uint64_t kLongAgo = 20'000;
constexpr std::uint64_t kLateMax = 2'000;
constexpr std::uint64_t kEpochLength = 5'000;  // requests of the producer in the shortest epoch of a document
constexpr std::size_t kDerivedMax = 4'096;
constexpr std::size_t kSteadyBytes = 100;
constexpr std::size_t kLongIdBytes = 600;  // more than a key of the state holds as it is

std::string filled(Draws draws, std::size_t size) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789";
  static_assert(kLetters.size() == 64);
  std::string text(size, ' ');
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < size; ++i, bits >>= 6) {
    if (i % 10 == 0) bits = draws.next();
    text[i] = kLetters[bits & 63];
  }
  return text;
}

std::uint64_t payload_bytes(Draws& draws) {
  if (draws.chance(14)) return draws.octaves(512, 11);  // to kPayloadBytesMax; of all payloads one in a hundred
  return std::min<std::uint64_t>(draws.octaves(10, 6), 500);
}

// Default, a list of some, or a single one.
std::optional<std::vector<std::string>> target_list(Draws& draws) {
  const std::vector<config::Target> all = targets();
  const std::uint64_t what = draws.below(100);
  if (what < 60) return std::nullopt;
  if (what < 75) return std::vector{all[draws.below(all.size())].name};
  std::vector<std::string> names;
  const std::size_t left_out = draws.below(all.size() + 1);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != left_out) names.push_back(all[i].name);
  return names;
}

// Most requests say nothing of it. Few idle priorities: each waits until nothing of those before it is under way, and
// what is lost is under way for its lease.
constexpr std::uint64_t kIdlePriorities = 3;

std::optional<std::uint8_t> priority_of(Draws draws) {
  const std::uint64_t what = draws.below(100);
  if (what < 70) return std::nullopt;
  if (what < 85) return static_cast<std::uint8_t>(draws.below(100));
  return static_cast<std::uint8_t>(what < 90 ? 100 : 200 + draws.below(kIdlePriorities));
}

}  // namespace

// Of whom a request is.
struct Plan::Document {
  std::string id;
  std::optional<std::uint32_t> epoch;  // none: it leaves epochs to the partition
  std::uint64_t epoch_begin = 0;       // place in the stream
};

std::vector<config::Target> targets() {
  config::Target search, catalogue, archive;
  search.name = "search";
  catalogue.name = "catalogue";
  archive.name = "archive";
  archive.optional = true;
  archive.order = "monotonic";
  return {search, catalogue, archive};
}

std::string targets_toml() {
  std::string toml;
  for (const config::Target& target : targets()) {
    toml += "[[target]]\nname = \"" + target.name + "\"\n";
    if (target.optional) toml += "optional = true\n";
    if (target.order != "newest") toml += "order = \"" + target.order + "\"\n";
  }
  return toml;
}

Plan::Plan(const PlanSettings& settings) : settings_(settings) {}

Number Plan::number(std::uint32_t producer, std::uint64_t place) const {
  return Number(place * settings_.producers + producer);
}

// Before it is known whether there is something to repeat.
Kind Plan::first_drawn(Number number) const {
  const std::uint64_t place = number.value() / settings_.producers;
  if (number.value() % settings_.producers == 0 && place % kResetEvery == kResetEvery - 1) return Kind::kReset;
  const std::uint64_t what = Draws(settings_.seed, "kind", number.value()).below(1'000);
  if (what < 880) return Kind::kNext;
  if (what < 920) return Kind::kLate;
  if (what < 970) return Kind::kAgain;
  if (what < 985) return Kind::kReprocess;
  if (what < 995) return Kind::kChanged;
  return Kind::kBad;
}

// What cannot repeat anything is the next request of a document.
Plan::Drawn Plan::drawn(Number number) const {
  const Kind kind = first_drawn(number);
  if (kind != Kind::kAgain && kind != Kind::kReprocess && kind != Kind::kChanged) return {kind, number};
  Draws draws(settings_.seed, "repeats", number.value());
  const std::uint64_t back = 1 + draws.below(draws.chance(100) ? kLongAgo : kSoon);
  if (back > number.value() / settings_.producers) return {Kind::kNext, number};
  const Number source(number.value() - back * settings_.producers);
  const Kind repeated = first_drawn(source);
  if (repeated != Kind::kNext && repeated != Kind::kLate) return {Kind::kNext, number};
  if (kind == Kind::kChanged && own(source, repeated == Kind::kLate).removal) return {Kind::kNext, number};
  return {kind, source};
}

Plan::Document Plan::document(Number number) const {
  const std::uint64_t producer = number.value() % settings_.producers;
  const std::uint64_t place = number.value() / settings_.producers;
  Draws draws(settings_.seed, "document", number.value());
  const std::uint64_t what = draws.below(100);
  std::string name;
  if (what < 35) {
    name = "hot-" + std::to_string(producer) + "-" + std::to_string(draws.octaves(1, kHotOctaves));
  } else {
    std::uint64_t born = place;
    if (what >= 80) born = draws.below(place + 1);
    if (what >= 60 && what < 80) born = place - draws.below(std::min(place + 1, kLateMax));
    name = "doc-" + std::to_string(producer) + "-" + std::to_string(born);
  }
  Draws traits(settings_.seed, "traits", name);
  Document document{.id = name, .epoch = {}};
  if (traits.chance(10)) document.id += filled(Draws(settings_.seed, "id", name), kLongIdBytes);
  if (traits.chance(50)) {
    const std::uint64_t length = kEpochLength * (1 + traits.below(4));
    document.epoch = static_cast<std::uint32_t>(place / length);
    document.epoch_begin = place - place % length;
  }
  return document;
}

std::optional<std::string> Plan::payload(Number number, bool removal) const {
  Draws draws(settings_.seed, "payload", number.value());
  if (removal && !draws.chance(200)) return std::nullopt;
  const std::uint64_t bytes = payload_bytes(draws);
  return filled(draws, bytes);
}

// As it stands in the request: with the payload of the request.
judge::Asked Plan::own(Number number, bool late) const {
  const std::uint64_t place = number.value() / settings_.producers;
  const Document document = this->document(number);
  Draws draws(settings_.seed, "request", number.value());
  judge::Asked asked;
  asked.id = document.id;
  asked.epoch = document.epoch;
  asked.removal = draws.chance(200);
  asked.targets = target_list(draws);
  const std::uint64_t in_epoch = place - document.epoch_begin;
  asked.sequence = 2 * in_epoch + 2;
  if (late) asked.sequence = 2 * (in_epoch - draws.below(std::min(in_epoch + 1, kLateMax))) + 1;
  // Now and then what the document always asks for: many of these change nothing.
  const bool as_ever = !asked.removal && Draws(settings_.seed, "as ever", number.value()).chance(300);
  if (as_ever) asked.payload = filled(Draws(settings_.seed, "as ever", asked.id), kSteadyBytes);
  if (!as_ever) asked.payload = payload(number, asked.removal);
  if (settings_.journal) asked.priority = priority_of(Draws(settings_.seed, "priority", number.value()));
  return asked;
}

std::optional<judge::Asked> Plan::asked(Number number) const {
  const Drawn drawn = this->drawn(number);
  if (drawn.kind == Kind::kBad || drawn.kind == Kind::kReset) return std::nullopt;
  judge::Asked asked = own(drawn.source, first_drawn(drawn.source) == Kind::kLate);
  if (drawn.kind == Kind::kChanged) asked.payload = payload(number, false);
  asked.payload = result_payload(std::move(asked.payload));
  return asked;
}

std::vector<PlannedRecord> Plan::records(Number number) const {
  const Drawn drawn = this->drawn(number);
  if (drawn.kind == Kind::kReset) return reset(number);
  if (drawn.kind == Kind::kBad) return {bad(number)};
  judge::Asked asked = own(drawn.source, first_drawn(drawn.source) == Kind::kLate);
  if (drawn.kind == Kind::kChanged) {
    asked.payload = payload(number, false);
    return {record_of(number, asked)};
  }
  PlannedRecord record = record_of(drawn.source, asked);
  if (drawn.kind == Kind::kReprocess) record.headers.push_back({header::kReprocess, "true"});
  return {std::move(record)};
}

PlannedRecord Plan::record_of(Number number, const judge::Asked& asked) const {
  PlannedRecord record{.key = asked.id, .payload = asked.payload};
  const auto add = [&record](std::string_view name, std::string value) {
    record.headers.push_back({name, std::move(value)});
  };
  add(kNumber, std::to_string(number.value()));
  add(header::kSeq, std::to_string(asked.sequence));
  if (asked.epoch) add(header::kEpoch, std::to_string(*asked.epoch));
  // A null payload says it too.
  if (asked.removal && (asked.payload || Draws(settings_.seed, "op", number.value()).chance(500)))
    add(header::kOp, "delete");
  if (asked.priority) add(header::kPriority, std::to_string(*asked.priority));
  if (asked.targets) {
    std::string list;
    for (const std::string& name : *asked.targets) list += (list.empty() ? "" : ",") + name;
    add(header::kTargets, list);
  }
  return record;
}

std::vector<PlannedRecord> Plan::reset(Number number) const {
  const std::string epoch = std::to_string((number.value() / settings_.producers + 1) / kResetEvery);
  std::vector<PlannedRecord> records;
  for (std::int32_t p = 0; p < settings_.partitions; ++p) {
    PlannedRecord record{.partition = Partition(p)};
    record.headers = {{header::kControl, "reset"},
                      {header::kControlId, "reset-" + epoch},
                      {header::kControlPartition, std::to_string(p)},
                      {header::kEpoch, epoch}};
    records.push_back(std::move(record));
  }
  return records;
}

namespace {

struct BadRecord {
  Reason reason;
  std::string_view header;  // empty: the record is spoiled otherwise
  std::string_view value;
};

constexpr std::array kBadOnes = {
    BadRecord{Reason::kMissingId, "", ""},
    BadRecord{Reason::kEmptyId, "", ""},
    BadRecord{Reason::kIdTooLong, "", ""},
    BadRecord{Reason::kMisrouted, "", ""},
    BadRecord{Reason::kUnknownControl, "", ""},
    BadRecord{Reason::kMissingSequence, "", ""},
    BadRecord{Reason::kOpPayloadConflict, header::kOp, "upsert"},
    BadRecord{Reason::kMalformedSequence, header::kSeq, "12x"},
    BadRecord{Reason::kIdKeyMismatch, header::kId, "another"},
    BadRecord{Reason::kMalformedHeader, header::kEpoch, "-1"},
    BadRecord{Reason::kUnsupportedHeader, "reseq-root", "r"},
    BadRecord{Reason::kUnknownCommand, header::kCommand, "explode"},
    BadRecord{Reason::kUnknownTarget, header::kTargets, "nobody"},
};

}  // namespace

PlannedRecord Plan::bad(Number number) const {
  const BadRecord& bad = kBadOnes[Draws(settings_.seed, "bad", number.value()).below(kBadOnes.size())];
  PlannedRecord record{.key = document(number).id, .payload = "bad"};
  record.headers = {{kNumber, std::to_string(number.value())}, {kExpectedReason, std::string(name_of(bad.reason))}};
  if (bad.reason != Reason::kMissingSequence && bad.header != header::kSeq)
    record.headers.push_back({header::kSeq, "1"});
  if (!bad.header.empty()) record.headers.push_back({bad.header, std::string(bad.value)});
  const Partition right = codec::partition_of(*record.key, Partitioner::kMurmur2, settings_.partitions);
  if (bad.reason == Reason::kMissingId) record.key.reset();
  if (bad.reason == Reason::kEmptyId) record.key = "";
  if (bad.reason == Reason::kIdTooLong) record.key = std::string(4'097, 'k');
  if (bad.reason == Reason::kOpPayloadConflict) record.payload.reset();
  if (bad.reason == Reason::kMisrouted) record.partition = Partition((right.value() + 1) % settings_.partitions);
  if (bad.reason == Reason::kUnknownControl) {
    record.to_control = true;
    record.headers = {{header::kControl, "explode"}, {kExpectedReason, std::string(name_of(bad.reason))}};
  }
  return record;
}

std::optional<std::string> result_payload(std::optional<std::string> request) {
  if (!request || request->size() >= kDerivedMax) return request;
  return "result of " + *request;
}

}  // namespace reseq::chaos
