#include "tests/simulation/world/producers.h"

#include <array>
#include <charconv>
#include <utility>

#include "codec/hash.h"
#include "codec/header_names.h"
#include "tests/simulation/world/record.h"

namespace reseq::simulation {

namespace header = codec::header;

namespace {

constexpr std::int64_t kWantedMs = 6'000;  // nobody wants anything that expires for longer

}  // namespace

Producers::Producers(const Scenario& scenario, Broker& broker, Counters& counters)
    : scenario_(scenario), broker_(broker), counters_(counters) {
  for (std::size_t i = 0; i < scenario.documents; ++i) {
    Document document;
    document.id = "document-" + std::to_string(i);
    if (scenario.settings.requests_carry_epochs) document.epoch = 0;
    documents_.push_back(std::move(document));
  }
}

void Producers::write() {
  Draw& draw = broker_.draw();
  Document& document = documents_[draw.below(documents_.size())];
  const std::uint64_t what = draw.below(100);
  if (what < 70) return write_next(document);
  if (what < 80) return write_again(document);
  if (what < 85) return write_changed(document);
  if (what < 88) return scenario_.epochs ? raise_epoch(document) : write_next(document);
  if (what < 90) return scenario_.epochs || draw.chance(200) ? reset() : write_next(document);
  write_bad(document);
}

const Asked* Producers::asked(const StoredRecord& record) const {
  const std::string* number = header_of(record, kNumber);
  if (number == nullptr) return nullptr;
  std::size_t place = 0;
  std::from_chars(number->data(), number->data() + number->size(), place);
  return &asked_[place];
}

void Producers::write_next(Document& document) {
  Draw& draw = broker_.draw();
  Asked asked;
  asked.id = document.id;
  asked.epoch = document.epoch;
  if (!document.skipped.empty() && draw.chance(200)) {
    const std::size_t which = draw.below(document.skipped.size());
    asked.sequence = document.skipped[which];
    document.skipped.erase(document.skipped.begin() + static_cast<std::ptrdiff_t>(which));
  } else {
    if (draw.chance(150)) document.skipped.push_back(document.next++);
    asked.sequence = document.next++;
  }
  asked.removal = draw.chance(120);
  if (!asked.removal || draw.chance(200)) {
    asked.payload = asked.id + "/" + std::to_string(asked.epoch.value_or(0)) + "/" + std::to_string(asked.sequence);
    if (draw.chance(30)) asked.payload->append(scenario_.large_payload, 'x');
  }
  if (scenario_.settings.skip_unchanged && !document.written.empty() && draw.chance(400)) repeat_last(document, asked);
  if (draw.chance(250)) {
    asked.targets.emplace();
    for (const config::Target& target : scenario_.settings.targets)
      if (draw.chance(600)) asked.targets->push_back(target.name);
    if (asked.targets->empty()) asked.targets->push_back(scenario_.settings.targets.back().name);
  }
  if (scenario_.leases()) wish(asked);
  const std::size_t place = note(std::move(asked));
  document.written.push_back(place);
  append("requests", partition_of(document.id), record_of(place));
}

// It asks for what the request before it asked for.
void Producers::repeat_last(const Document& document, Asked& asked) const {
  const Asked& last = asked_[document.written.back()];
  asked.removal = last.removal;
  asked.payload = last.payload;
}

// When it is to be dispatched; some wish for what is over, or later than it may be.
void Producers::wish(Asked& asked) {
  Draw& draw = broker_.draw();
  constexpr std::array<std::uint8_t, 7> kPriorities = {0, 1, 50, 100, 150, 200, 255};
  const auto date = [&](std::int64_t ahead_ms) {
    constexpr std::int64_t kPastMs = 300;
    const auto from_past = static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(ahead_ms + kPastMs)));
    return UnixMs(broker_.now().value() - kPastMs + from_past);
  };
  if (draw.chance(300)) asked.priority = kPriorities[draw.below(kPriorities.size())];
  const std::int64_t latest = scenario_.settings.dispatch_process_at_max_ms;
  if (draw.chance(200)) asked.process_at = date(draw.chance(30) ? 2 * latest : latest);
  if (!asked.removal && draw.chance(250)) asked.expires_at = date(kWantedMs);
}

void Producers::write_again(Document& document) {
  if (document.written.empty()) return;
  Draw& draw = broker_.draw();
  std::size_t place = document.written[draw.below(document.written.size())];
  if (scenario_.journal && draw.chance(200)) place = for_others(place);
  StoredRecord record = record_of(place);
  if (draw.chance(400)) set_header(record, header::kReprocess, "true");
  append("requests", partition_of(document.id), std::move(record));
}

// The same order for other targets: it may wait, or be under way, or have ended for some of them.
std::size_t Producers::for_others(std::size_t place) {
  Asked asked = asked_[place];
  asked.targets.emplace();
  for (const config::Target& target : scenario_.settings.targets)
    if (broker_.draw().chance(500)) asked.targets->push_back(target.name);
  if (asked.targets->empty()) asked.targets.reset();
  return note(std::move(asked));
}

// Another edit under the number of an earlier one.
void Producers::write_changed(Document& document) {
  if (document.written.empty()) return;
  Asked asked = asked_[document.written.back()];
  if (!asked.payload) return;
  asked.payload->append("/changed");
  const std::size_t place = note(std::move(asked));
  document.written.push_back(place);
  append("requests", partition_of(document.id), record_of(place));
}

void Producers::raise_epoch(Document& document) {
  document.epoch = document.epoch.value_or(default_epoch_) + 1;
  document.next = 1;
  document.skipped.clear();
}

void Producers::reset() {
  ++default_epoch_;
  for (std::int32_t p = 0; p < scenario_.partitions; ++p) {
    StoredRecord record;
    set_header(record, header::kControl, "reset");
    set_header(record, header::kControlId, "reset-" + std::to_string(default_epoch_));
    set_header(record, header::kControlPartition, std::to_string(p));
    set_header(record, header::kEpoch, std::to_string(default_epoch_));
    append("requests", Partition(p), std::move(record));
  }
}

void Producers::write_bad(const Document& document) {
  Draw& draw = broker_.draw();
  if (draw.chance(50)) {
    StoredRecord record;
    set_header(record, header::kControl, "explode");
    return append("control", partition_of(document.id), std::move(record));
  }
  StoredRecord record;
  record.key = document.id;
  record.payload = "bad";
  set_header(record, header::kSeq, std::to_string(1 + draw.below(20)));
  Partition partition = partition_of(document.id);
  const std::uint64_t how = draw.below(12);
  if (how == 11) {
    if (scenario_.partitions > 1) partition = Partition((partition.value() + 1) % scenario_.partitions);
    if (scenario_.partitions == 1) set_header(record, header::kSeq, "x");
  }
  spoil(record, how);
  append("requests", partition, std::move(record));
}

void Producers::spoil(StoredRecord& record, std::uint64_t how) {
  switch (how) {
    case 0:
      return record.key.reset();
    case 1:
      record.key = "";
      return;
    case 2:
      record.key = std::string(4'097, 'k');
      return;
    case 3:
      return set_header(record, header::kId, "another");
    case 4:
      return remove_header(record, header::kSeq);
    case 5:
      return set_header(record, header::kSeq, "12x");
    case 6:
      return set_header(record, header::kEpoch, "-1");
    case 7:
      return set_header(record, "reseq-root", "r");
    case 8:
      return set_header(record, header::kCommand, "explode");
    case 9:
      return set_header(record, header::kTargets, "nobody");
    case 10:
      // Where a null payload says nothing, as in tap, that would be good.
      set_header(record, header::kOp, scenario_.tap ? "explode" : "upsert");
      if (!scenario_.tap && scenario_.explicit_deletes()) remove_header(record, header::kOp);
      record.payload.reset();
      return;
    default:
      return;
  }
}

std::size_t Producers::note(Asked asked) {
  asked_.push_back(std::move(asked));
  return asked_.size() - 1;
}

StoredRecord Producers::record_of(std::size_t place) const {
  const Asked& asked = asked_[place];
  StoredRecord record;
  record.key = asked.id;
  record.payload = asked.payload;
  set_header(record, kNumber, std::to_string(place));
  set_header(record, header::kSeq, std::to_string(asked.sequence));
  if (asked.epoch) set_header(record, header::kEpoch, std::to_string(*asked.epoch));
  if (asked.removal) set_header(record, header::kOp, "delete");
  if (asked.priority) set_header(record, header::kPriority, std::to_string(*asked.priority));
  if (asked.process_at) set_header(record, header::kProcessAt, std::to_string(asked.process_at->value()));
  if (asked.expires_at) set_header(record, header::kExpiresAt, std::to_string(asked.expires_at->value()));
  if (asked.targets) {
    std::string list;
    for (const std::string& name : *asked.targets) list += (list.empty() ? "" : ",") + name;
    set_header(record, header::kTargets, list);
  }
  return record;
}

void Producers::append(const std::string& topic, Partition partition, StoredRecord record) {
  record.timestamp = broker_.now();
  broker_.append({*broker_.topic("app." + topic), partition}, std::move(record));
  ++counters_["inputs written to " + topic];
}

Partition Producers::partition_of(const std::string& id) const {
  return codec::partition_of(id, Partitioner::kMurmur2, scenario_.partitions);
}

}  // namespace reseq::simulation
