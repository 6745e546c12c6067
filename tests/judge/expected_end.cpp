#include "tests/judge/expected_end.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "codec/header_names.h"

namespace reseq::judge {

namespace header = codec::header;

namespace {

std::string named(const std::pair<std::uint32_t, std::uint64_t>& order) {
  return std::to_string(order.first) + "/" + std::to_string(order.second);
}

std::pair<std::uint32_t, std::uint64_t> order_in(const Record& record) {
  return {static_cast<std::uint32_t>(number_of(record, header::kEpoch)), number_of(record, header::kSeq)};
}

std::size_t hash_of(const std::optional<std::string_view>& payload) {
  return std::hash<std::string_view>()(payload.value_or(""));
}

}  // namespace

ExpectedEnd::ExpectedEnd(const config::Settings& settings, const Specification& specification, Verdict& verdict)
    : settings_(settings), tap_(settings.intake == "tap"), specification_(specification), verdict_(verdict) {
  for (const config::Target& target : settings.targets)
    if (!target.optional) default_targets_.insert(target.name);
}

void ExpectedEnd::take(const ReplayedBatch& batch) {
  for (const Decided& decided : batch.inputs) {
    if (decided.role == Role::kRequests) take_request(decided);
    if (decided.role == Role::kCommands) take_command(decided);
    if (decided.role == Role::kControl) take_operation(decided);
  }
  for (const Released& released : batch.releases) take_release(released);
  for (const std::string& id : batch.expired) {
    end_life(id);
    for (const auto& [target, order] : answered_[id]) forgotten_.insert({id, target, order.first, order.second});
    answered_.erase(id);
  }
}

void ExpectedEnd::finish(const std::set<std::string>& documents) {
  for (const auto& [id, document] : documents_)
    if (!documents.contains(id)) wrong(id + " was asked for, but the state does not know it");
  for (const std::string& id : documents)
    if (!documents_.contains(id)) wrong(id + " is in the state, but nobody asked for it, or it had expired");
  while (!documents_.empty()) end_life(documents_.begin()->first);
  for (const Delivered& one : early_)
    if (!was_asked(one))
      wrong(one.id + " for " + one.target + ": release of " + named(one.order) +
            " holds a payload that nobody asked for");
}

bool ExpectedEnd::was_asked(const Delivered& delivered) const {
  const auto payloads = payloads_.find(delivered.id);
  return payloads != payloads_.end() && payloads->second.contains({delivered.order, delivered.payload});
}

void ExpectedEnd::take_request(const Decided& decided) {
  const Record& record = decided.record;
  if (header_of(record, header::kControl)) {
    // In tap the pipeline could not know the default epoch: a RESET is refused unless requests carry theirs.
    if (!tap_ || settings_.requests_carry_epochs)
      default_epoch_ = std::max(default_epoch_, static_cast<std::uint32_t>(number_of(record, header::kEpoch)));
    return;
  }
  const std::optional<Asked> asked = specification_.asked(record);
  if (!asked || (tap_ && header_of(record, header::kReprocess))) return;
  const Order order{asked->epoch.value_or(default_epoch_), asked->sequence};
  auto& payloads = payloads_[asked->id];
  const auto first = payloads.lower_bound({order, 0});
  const bool again = first != payloads.end() && first->first == order;
  payloads.insert({order, hash_of(asked->payload)});
  // Another edit under a sequence that was taken before, told as such.
  if (decided.decision.reason == Reason::kSequenceReused && again) return;
  // Once more for the targets that it has, whatever it lists; a delete that lists none for all that the document has.
  if (decided.decision.table_row == TableRow::kR6 && again) {
    if (!asked->removal || asked->targets) return;
    Document& document = documents_[asked->id];
    document.barrier = std::max(document.barrier, std::optional(order));
    for (auto& [name, target] : document.targets) target.asked = std::max(target.asked, std::optional(order));
    return;
  }
  if (asked->removal && !asked->targets) return take_removal_for_all(asked->id, order);
  std::set<std::string> targets = default_targets_;
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
  std::set<std::string> targets = default_targets_;
  for (const auto& [name, target] : document.targets) targets.insert(name);
  if (document.targets.empty())
    for (const config::Target& target : settings_.targets) targets.insert(target.name);
  const bool moves = std::any_of(targets.begin(), targets.end(),
                                 [&](const std::string& name) { return document.targets[name].asked < order; });
  document.barrier = std::max(document.barrier, std::optional(order));
  if (!moves) return;
  for (const std::string& name : targets) {
    Target& target = document.targets[name];
    target.asked = std::max(target.asked, std::optional(order));
  }
}

// A target that a program registered later on, or gave up: then nothing older is released for it. A REGISTER counts
// whatever the engine said to it, unless it became a dead letter or a delete for all stands above it.
void ExpectedEnd::take_command(const Decided& decided) {
  const Record& record = decided.record;
  if (!record.key) return;
  const std::string id(*record.key);
  const auto command = header_of(record, header::kCommand);
  const auto result_for = header_of(record, header::kTarget);
  const Order order = order_in(record);
  if (command == "sequence" && result_for) answered_[id].insert({std::string(*result_for), order});
  const bool registers = command == "register" && decided.decision.outcome != Outcome::kDeadLettered;
  const bool gives_up = decided.decision.outcome == Outcome::kRemoved && result_for && *result_for != "*";
  if (!registers && !gives_up) return;
  const auto name = registers ? header_of(record, header::kTargets) : result_for;
  Document& document = documents_[id];
  // Orders have no revision here: one that was processed again stands above the order that it is of.
  const bool of_barrier = decided.decision.table_row == TableRow::kR0 && document.barrier == order;
  if (registers && document.barrier && (order < *document.barrier || of_barrier)) return;
  Target& target = document.targets[std::string(name.value_or(""))];
  target.asked = std::max(target.asked, std::optional(order));
}

// Only what was done: a dry run and what was refused change nothing.
void ExpectedEnd::take_operation(const Decided& decided) {
  const Record& record = decided.record;
  const auto operation = header_of(record, header::kControl);
  const auto named = header_of(record, header::kTarget);
  if (operation == "expire" && decided.decision.outcome == Outcome::kApplied) {
    const std::string id(*record.key);
    for (const auto& [name, target] : documents_[id].targets)
      if (target.asked && (!named || *named == name))
        called_off_.insert({id, name, target.asked->first, target.asked->second});
  }
  if (operation == "release" && decided.decision.outcome == Outcome::kReleased) {
    const std::string id(*record.key);
    const Order order = order_in(record);
    payloads_[id].insert({order, hash_of(record.payload)});
    Target& target = documents_[id].targets[std::string(named.value_or(settings_.targets.front().name))];
    target.asked = std::max(target.asked, std::optional(order));
  }
}

void ExpectedEnd::take_release(const Released& released) {
  const std::string id(released.id);
  Document& document = documents_[id];
  Target& target = document.targets[std::string(released.target)];
  const Order order{released.epoch, released.sequence};
  const auto what = [&] { return id + " for " + std::string(released.target) + ": release of " + named(order); };
  if (target.released && std::pair(order, released.revision) <= std::pair(*target.released, target.released_revision))
    wrong(what() + " follows " + named(*target.released));
  if (document.barrier && order < *document.barrier)
    wrong(what() + " although it was deleted everywhere at " + named(*document.barrier));
  target.released = order;
  target.released_revision = released.revision;
  // A monotonic target may take a result before its request is read.
  Delivered delivered{id, std::string(released.target), order, hash_of(released.payload)};
  if (!was_asked(delivered)) early_.push_back(std::move(delivered));
}

void ExpectedEnd::end_life(const std::string& id) {
  const auto found = documents_.find(id);
  if (found == documents_.end()) return;
  const Document& document = found->second;
  for (const auto& [name, target] : document.targets) {
    if (target.released == target.asked) continue;
    const auto what = [&, &name = name, &target = target] {
      return id + " for " + name + ": the last release is " + (target.released ? named(*target.released) : "none") +
             ", asked for was " + (target.asked ? named(*target.asked) : "nothing");
    };
    // A target that was only ever given up is known, and deleted with the others.
    if (target.released > target.asked) {
      if (target.released != document.barrier) wrong(what());
      continue;
    }
    const Piece piece{id, name, target.asked->first, target.asked->second};
    const bool excused = specification_.excused(piece) || called_off_.contains(piece) || forgotten_.contains(piece);
    if (!excused) wrong(what());
  }
  documents_.erase(found);
}

}  // namespace reseq::judge
