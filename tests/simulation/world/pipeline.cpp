#include "tests/simulation/world/pipeline.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/assert.h"
#include "codec/header_names.h"
#include "tests/simulation/world/record.h"

namespace reseq::simulation {

namespace header = codec::header;

namespace {

constexpr std::uint64_t kDeadlyEvery = 6;  // sequences that this divides kill nearly every worker

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names(1);
  for (const char letter : list) {
    if (letter == ',') {
      names.emplace_back();
    } else {
      names.back().push_back(letter);
    }
  }
  return names;
}

std::uint32_t number_in(const std::string* text) {
  std::uint32_t value = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

}  // namespace

Pipeline::Pipeline(const Scenario& scenario, Broker& broker, const Producers& producers, Counters& counters)
    : scenario_(scenario),
      broker_(broker),
      producers_(producers),
      counters_(counters),
      source_(*broker.topic(scenario.tap ? "app.requests" : "app.work")),
      commands_(*broker.topic("app.commands")),
      next_(static_cast<std::size_t>(scenario.partitions), Offset(0)) {}

void Pipeline::step() {
  for (std::size_t p = 0; p < next_.size(); ++p) {
    const Partition partition(static_cast<std::int32_t>(p));
    while (const Entry* entry = broker_.log({source_, partition}).next_committed(next_[p])) {
      next_[p] = Offset(entry->offset.value() + 1);
      take(*entry->record, partition);
    }
  }
  for (std::size_t i = 0; i < waiting_.size();) {
    if (waiting_[i].due > broker_.now()) {
      ++i;
      continue;
    }
    write(i);
  }
}

void Pipeline::deliver_all() {
  loses_ = !scenario_.journal;
  step();
  while (!waiting_.empty()) {
    write(broker_.draw().below(waiting_.size()));
  }
}

bool Pipeline::anything_new() const {
  for (std::size_t p = 0; p < next_.size(); ++p)
    if (broker_.log({source_, Partition(static_cast<std::int32_t>(p))}).next_committed(next_[p]) != nullptr)
      return true;
  return false;
}

void Pipeline::take(const StoredRecord& work, Partition partition) {
  const Asked* asked = producers_.asked(work);
  if (asked == nullptr) {
    RESEQ_ASSERT(scenario_.tap, "work that nobody asked for");
    return;
  }
  Piece piece{asked->id, {}, number_in(header_of(work, header::kEpoch)), asked->sequence};
  std::vector<std::string> targets;
  if (const std::string* list = header_of(work, header::kTargets)) {
    targets = names_in(*list);
  } else {
    for (const config::Target& target : scenario_.settings.targets)
      if (!target.optional) targets.push_back(target.name);
  }
  if (scenario_.tap && asked->removal && !asked->targets)
    for (const config::Target& target : scenario_.settings.targets) {
      piece.target = target.name;
      excused_.insert(piece);  // only the resequencer knows all targets of a delete
    }
  if (scenario_.leases()) {
    const bool survives_no_worker = asked->sequence % kDeadlyEvery == 0;
    if (broker_.draw().chance(survives_no_worker ? 850 : 40) && loses()) return;
    if (broker_.draw().chance(250)) beat(work, partition);
  }
  for (const std::string& target : targets) {
    piece.target = target;
    take_target(work, piece, partition);
  }
  if (broker_.draw().chance(scenario_.journal ? 120 : 30)) fork(work, piece, partition);
  if (broker_.draw().chance(40)) give_up_any(work, piece, partition);
  if (broker_.draw().chance(60)) write_bad(work, piece, partition);
}

void Pipeline::take_target(const StoredRecord& work, const Piece& piece, Partition partition) {
  Draw& draw = broker_.draw();
  if (work.payload && work.payload->size() >= kLargePayload) excused_.insert(piece);
  if (draw.chance(25) && loses()) {
    if (!scenario_.leases()) excused_.insert(piece);
    return;
  }
  if (draw.chance(50)) {
    excused_.insert(piece);
    StoredRecord record = result_of(work, draw.chance(200) ? "*" : piece.target);
    // What removes everything that is pending at the order removes other targets too.
    if (*header_of(record, header::kTarget) == "*")
      for (const config::Target& target : scenario_.settings.targets)
        excused_.insert({piece.id, target.name, piece.epoch, piece.sequence});
    set_header(record, header::kCommand, "unregister");
    answer(std::move(record), partition, delay());
    if (draw.chance(500)) return;
  }
  if (scenario_.journal && loses_ && is_down(piece.target)) return fail_of_target(work, piece, partition);
  if (scenario_.journal && loses_ && draw.chance(80)) return fail(work, piece, partition);
  const int times = draw.chance(150) ? 2 : 1;
  for (int i = 0; i < times; ++i) answer(result_of(work, piece.target), partition, delay());
}

bool Pipeline::loses() {
  if (loses_) ++counters_["work lost"];
  return loses_;
}

// It could not be done: told once or more often, now and then although there is a result.
void Pipeline::fail(const StoredRecord& work, const Piece& piece, Partition partition) {
  Draw& draw = broker_.draw();
  constexpr std::array kKinds = {"transient", "permanent", "unknown", "transient"};
  StoredRecord record = result_of(work, draw.chance(200) ? "*" : piece.target);
  record.payload.reset();
  set_header(record, header::kCommand, "fail");
  set_header(record, header::kFailure, kKinds[draw.below(kKinds.size())]);
  if (draw.chance(300)) set_header(record, header::kFailureScope, "universal");
  set_header(record, header::kError, draw.chance(500) ? "it is down" : "it is full");
  if (is_potent(piece.target) && draw.chance(500)) set_header(record, header::kEffect, "none");
  ++counters_["work failed"];
  for (std::uint64_t times = 1 + draw.below(2); times > 0; --times) answer(record, partition, delay());
  if (draw.chance(200)) answer(result_of(work, piece.target), partition, delay());
}

bool Pipeline::is_down(const std::string& target) const {
  constexpr std::int64_t kFromOneToTheNextMs = 2'000;
  constexpr std::int64_t kForMs = 700;
  const bool first = target == scenario_.settings.targets.front().name;
  return scenario_.outages && first && broker_.now().value() % kFromOneToTheNextMs < kForMs;
}

void Pipeline::fail_of_target(const StoredRecord& work, const Piece& piece, Partition partition) {
  Draw& draw = broker_.draw();
  StoredRecord record = result_of(work, piece.target);
  record.payload.reset();
  set_header(record, header::kCommand, "fail");
  set_header(record, header::kFailure, draw.chance(50) ? "permanent" : "transient");
  set_header(record, header::kFailureScope, "universal");
  set_header(record, header::kError, "connection refused");
  if (is_potent(piece.target) && draw.chance(800)) set_header(record, header::kEffect, "none");
  ++counters_["work that did not reach its target"];
  answer(record, partition, delay());
}

// Who works on it says so, once or more often, in time or not.
void Pipeline::beat(const StoredRecord& work, Partition partition) {
  StoredRecord record = work;
  record.payload.reset();
  set_header(record, header::kCommand, "heartbeat");
  for (std::uint64_t times = 1 + broker_.draw().below(3); times > 0; --times) answer(record, partition, delay());
}

// A program that finds out late that a document has one more target.
void Pipeline::fork(const StoredRecord& work, const Piece& piece, Partition partition) {
  const auto& targets = scenario_.settings.targets;
  const std::string& target = targets[broker_.draw().below(targets.size())].name;
  StoredRecord record = result_of(work, target);
  remove_header(record, header::kTarget);
  set_header(record, header::kCommand, "register");
  set_header(record, header::kTargets, target);
  if (work.payload && work.payload->size() >= kLargePayload)
    excused_.insert({piece.id, target, piece.epoch, piece.sequence});
  answer(std::move(record), partition, delay(), result_of(work, target));
}

// A program that will not deliver to a target, whether the document has it or not.
void Pipeline::give_up_any(const StoredRecord& work, const Piece& piece, Partition partition) {
  const auto& targets = scenario_.settings.targets;
  const std::string& target = targets[broker_.draw().below(targets.size())].name;
  excused_.insert({piece.id, target, piece.epoch, piece.sequence});
  StoredRecord record = result_of(work, target);
  set_header(record, header::kCommand, "unregister");
  answer(std::move(record), partition, delay());
}

void Pipeline::write_bad(const StoredRecord& work, const Piece& piece, Partition partition) {
  StoredRecord record = result_of(work, piece.target);
  switch (broker_.draw().below(6)) {
    case 0:
      set_header(record, header::kObservedVersion, "9000000000000000000");
      break;
    case 1:
      remove_header(record, header::kEpoch);
      remove_header(record, header::kTarget);
      break;
    case 2:
      if (!scenario_.explicit_deletes()) {
        set_header(record, header::kTarget, "nobody");
        break;
      }
      // A bug of a worker, which must delete nothing.
      remove_header(record, header::kOp);
      record.payload.reset();
      ++counters_["results without payload refused"];
      break;
    case 3:
      remove_header(record, header::kSeq);
      break;
    case 4:
      if (header_of(work, header::kTargets) == nullptr) return;
      remove_header(record, header::kTarget);
      set_header(record, header::kTargets, *header_of(work, header::kTargets));
      set_header(record, header::kCommand, "unregister");
      break;
    default:
      // A monotonic target takes whatever rises, asked for or not.
      if (may_be_monotonic(piece.target)) return;
      set_header(record, header::kSeq, std::to_string(piece.sequence + 1'000));
      break;
  }
  answer(std::move(record), partition, delay());
}

bool Pipeline::is_potent(const std::string& target) const {
  const auto& last = scenario_.settings.targets.back();
  return last.effect == "potent" && last.name == target;
}

bool Pipeline::may_be_monotonic(const std::string& target) const {
  if (scenario_.settings.starvation_after_ms != 0) return true;
  for (const config::Target& one : scenario_.settings.targets)
    if (one.name == target) return one.order == "monotonic";
  return false;
}

StoredRecord Pipeline::result_of(const StoredRecord& work, const std::string& target) const {
  StoredRecord record = work;
  if (scenario_.tap) remove_header(record, header::kTargets);
  set_header(record, header::kCommand, "sequence");
  set_header(record, header::kTarget, target);
  return record;
}

std::int64_t Pipeline::delay() {
  Draw& draw = broker_.draw();
  const std::int64_t max = draw.chance(50) ? scenario_.late_answer_ms_max : scenario_.answer_ms_max;
  return static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(max)));
}

void Pipeline::answer(StoredRecord record, Partition partition, std::int64_t after_ms,
                      std::optional<StoredRecord> then) {
  waiting_.push_back({UnixMs(broker_.now().value() + after_ms), partition, std::move(record), std::move(then)});
}

void Pipeline::write(std::size_t which) {
  Answer answer = std::move(waiting_[which]);
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
  answer.record.timestamp = broker_.now();
  broker_.append({commands_, answer.partition}, std::move(answer.record));
  ++counters_["inputs written to commands"];
  if (answer.then) this->answer(std::move(*answer.then), answer.partition, delay());
}

}  // namespace reseq::simulation
