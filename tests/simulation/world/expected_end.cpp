#include "tests/simulation/world/expected_end.h"

#include <algorithm>
#include <charconv>

#include "codec/header_names.h"
#include "tests/simulation/world/record.h"

namespace reseq::simulation {

namespace header = codec::header;

namespace {

template <typename Number>
Number number_in(const std::string* text) {
  Number value = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

std::string named(const std::pair<std::uint32_t, std::uint64_t>& order) {
  return std::to_string(order.first) + "/" + std::to_string(order.second);
}

}  // namespace

void ExpectedEnd::wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

std::string ExpectedEnd::judge(const Replay& replay) {
  for (const ReplayedBatch& batch : replay.batches()) {
    for (const Decided& decided : batch.inputs) {
      if (decided.role == Role::kRequests) take_request(decided);
      if (decided.role == Role::kCommands) take_command(decided);
    }
    for (const Released& released : batch.releases) take_release(released);
    for (const std::string& id : batch.expired) {
      end_life(id);
      forgotten_.merge(answered_[id]);
    }
  }
  while (!documents_.empty()) end_life(documents_.begin()->first);
  // Last, because a monotonic target may have taken a result before its request was read.
  for (const ReplayedBatch& batch : replay.batches())
    for (const Released& released : batch.releases) judge_payload(released);
  return wrong_;
}

void ExpectedEnd::judge_payload(const Released& released) {
  const Order order{released.epoch, released.sequence};
  const auto payloads = payloads_.find({released.id, order});
  if (payloads == payloads_.end() || !payloads->second.contains(released.payload.value_or("")))
    wrong(released.id + " for " + released.target + ": release of " + named(order) +
          " holds a payload that nobody asked for");
}

std::set<std::string> ExpectedEnd::default_targets() const {
  std::set<std::string> targets;
  for (const config::Target& target : scenario_.settings.targets)
    if (!target.optional) targets.insert(target.name);
  return targets;
}

void ExpectedEnd::take_request(const Decided& decided) {
  const StoredRecord& record = *decided.record;
  if (header_of(record, header::kControl) != nullptr) {
    // In tap the pipeline could not know the default epoch: a RESET is refused unless requests carry theirs.
    if (!scenario_.tap || scenario_.settings.requests_carry_epochs)
      default_epoch_ = std::max(default_epoch_, number_in<std::uint32_t>(header_of(record, header::kEpoch)));
    return;
  }
  const Asked* asked = producers_.asked(record);
  if (asked == nullptr || (scenario_.tap && header_of(record, header::kReprocess) != nullptr)) return;
  const Order order{asked->epoch.value_or(default_epoch_), asked->sequence};
  std::set<std::string>& payloads = payloads_[{asked->id, order}];
  const bool again = !payloads.empty();
  payloads.insert(asked->payload.value_or(""));
  // Another edit under a sequence that was taken before, told as such.
  if (decided.decision.reason == Reason::kSequenceReused && again) return;
  // Once more for the targets that it has, whatever it lists.
  if (decided.decision.table_row == TableRow::kR6 && again) return;
  if (asked->removal && !asked->targets) return take_removal_for_all(asked->id, order);
  std::set<std::string> targets = default_targets();
  if (asked->targets) targets = {asked->targets->begin(), asked->targets->end()};
  if (targets.empty()) return;
  Document& document = documents_[asked->id];
  if (document.barrier && order < *document.barrier) return;
  for (const std::string& name : targets) {
    Target& target = document.targets[name];
    target.asked = std::max(target.asked, std::optional(order));
  }
}

// For the default targets and those that the document has; for all when nothing is known of it.
void ExpectedEnd::take_removal_for_all(const std::string& id, const Order& order) {
  Document& document = documents_[id];
  if (document.barrier && order < *document.barrier) return;
  std::set<std::string> targets = default_targets();
  for (const auto& [name, target] : document.targets) targets.insert(name);
  if (document.targets.empty())
    for (const config::Target& target : scenario_.settings.targets) targets.insert(target.name);
  const bool moves = std::any_of(targets.begin(), targets.end(),
                                 [&](const std::string& name) { return document.targets[name].asked < order; });
  document.barrier = std::max(document.barrier, std::optional(order));
  if (!moves) return;
  for (const std::string& name : targets) {
    Target& target = document.targets[name];
    target.asked = std::max(target.asked, std::optional(order));
  }
}

// A target that a program registered later on, or gave up: then nothing older is released for it.
void ExpectedEnd::take_command(const Decided& decided) {
  const StoredRecord& record = *decided.record;
  const std::string* command = header_of(record, header::kCommand);
  const std::string* result_for = header_of(record, header::kTarget);
  if (record.key && command != nullptr && *command == "sequence" && result_for != nullptr)
    answered_[*record.key].insert({*record.key, *result_for,
                                   number_in<std::uint32_t>(header_of(record, header::kEpoch)),
                                   number_in<std::uint64_t>(header_of(record, header::kSeq))});
  const bool registers =
      decided.decision.outcome == Outcome::kRegistered && command != nullptr && *command == "register";
  const bool gives_up = decided.decision.outcome == Outcome::kRemoved && result_for != nullptr && *result_for != "*";
  if (!registers && !gives_up) return;
  Target& target = documents_[*record.key].targets[registers ? *header_of(record, header::kTargets) : *result_for];
  const Order order{number_in<std::uint32_t>(header_of(record, header::kEpoch)),
                    number_in<std::uint64_t>(header_of(record, header::kSeq))};
  target.asked = std::max(target.asked, std::optional(order));
}

void ExpectedEnd::take_release(const Released& released) {
  Document& document = documents_[released.id];
  Target& target = document.targets[released.target];
  const Order order{released.epoch, released.sequence};
  const std::string what = released.id + " for " + released.target + ": release of " + named(order);
  if (target.released && std::pair(order, released.revision) <= std::pair(*target.released, target.released_revision))
    wrong(what + " follows " + named(*target.released));
  if (document.barrier && order < *document.barrier)
    wrong(what + " although it was deleted everywhere at " + named(*document.barrier));
  target.released = order;
  target.released_revision = released.revision;
}

void ExpectedEnd::end_life(const std::string& id) {
  const auto document = documents_.find(id);
  if (document == documents_.end()) return;
  for (const auto& [name, target] : document->second.targets) {
    const std::string what = id + " for " + name + ": the last release is " +
                             (target.released ? named(*target.released) : "none") + ", asked for was " +
                             (target.asked ? named(*target.asked) : "nothing");
    if (target.released == target.asked) continue;
    // A target that was only ever given up is known, and deleted with the others.
    if (target.released > target.asked) {
      if (target.released != document->second.barrier) wrong(what);
      continue;
    }
    const Piece piece{id, name, target.asked->first, target.asked->second};
    if (!pipeline_.excused(piece) && !forgotten_.contains(piece)) wrong(what);
  }
  documents_.erase(document);
}

}  // namespace reseq::simulation
