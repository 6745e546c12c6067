#include "tests/judge/expected_end.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "codec/header_names.h"
#include "config/rules.h"

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
    : settings_(settings),
      tap_(settings.intake == "tap"),
      journal_(settings.dispatch_mode == "journal" || settings.failures_mode == "retry"),
      specification_(specification),
      verdict_(verdict) {
  for (const config::Target& target : settings.targets) {
    if (!target.optional) default_targets_.insert(target.name);
    if (config::is_ordered(target)) ordered_.insert(target.name);
  }
}

void ExpectedEnd::take(const ReplayedBatch& batch) {
  for (const Decided& decided : batch.inputs) {
    if (decided.role == Role::kRequests) take_request(decided, batch.meta.now);
    if (decided.role == Role::kCommands) take_command(decided);
    if (decided.role == Role::kControl) take_operation(decided);
  }
  for (const Released& released : batch.releases) take_release(released);
  if (journal_) take_journal(batch);
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

void ExpectedEnd::ask(Target& target, const Order& order, std::optional<UnixMs> expires_at) const {
  if (journal_ && (!target.asked || *target.asked < order)) target.all.emplace(order, expires_at);
  target.asked = std::max(target.asked, std::optional(order));
}

// Commands do not see what waits: one for an order below that counts until it is dispatched.
void ExpectedEnd::ask_by_command(Target& target, const Order& order) const {
  if (journal_ && (!target.dispatched || *target.dispatched < order)) target.all[order].reset();
  target.asked = std::max(target.asked, std::optional(order));
}

// Turns come behind the inputs, so behind the releases.
void ExpectedEnd::take_journal(const ReplayedBatch& batch) {
  for (const Dispatched& one : batch.dispatched) {
    const Order order{one.order.epoch.value(), one.order.sequence.number().value_or(0)};
    Document& document = documents_[one.id];
    for (const std::string& name : one.targets) {
      if (ordered_.contains(name)) continue;
      Target& target = document.targets[name];
      take_dispatched(document, target, order);
    }
  }
  for (const GivenUp& one : batch.given_up) {
    const auto request = requests_.find(one.request);
    const bool is_gone = one.reason == Reason::kBodyGone && specification_.requests_go();
    const bool is_given_up = one.reason == Reason::kTimedOut || one.reason == Reason::kFailed ||
                             one.reason == Reason::kEffectUnknown || is_gone;
    if (!is_given_up || request == requests_.end()) continue;
    const auto& [id, order] = request->second;
    for (const std::string& name : one.targets) call_off(id, name, order);
  }
  for (const Gone& one : batch.gone) take_gone(one, batch.meta.now);
  expired_by_hand_.clear();
}

// With it goes what it had taken over, not what is under way.
void ExpectedEnd::call_off(const std::string& id, const std::string& name, const Order& order) {
  called_off_.insert({id, name, order.first, order.second});
  const auto document = documents_.find(id);
  if (document == documents_.end()) return;
  const auto target = document->second.targets.find(name);
  if (target == document->second.targets.end() || !target->second.all.contains(order)) return;
  for (auto below = target->second.all.begin(); below->first < order; ++below)
    if (target->second.dispatched != below->first)
      called_off_.insert({id, name, below->first.first, below->first.second});
}

void ExpectedEnd::take_gone(const Gone& gone, UnixMs now) {
  const Order order{gone.order.epoch.value(), gone.order.sequence.number().value_or(0)};
  for (const std::string& name : gone.targets) expired_.insert({gone.id, name, order.first, order.second});
  const auto wanted = wanted_until_.find({gone.id, order});
  const bool may_be = wanted != wanted_until_.end() && wanted->second <= now;
  if (!may_be && !expired_by_hand_.contains(gone.id)) wrong(gone.id + ": " + named(order) + " expired before its date");
}

// It may not wait for so long.
bool ExpectedEnd::is_too_late(const Decided& decided, const Asked& asked, UnixMs now) {
  if (decided.decision.reason != Reason::kMalformedHeader) return false;
  const bool is_late =
      asked.process_at && asked.process_at->value() - now.value() > settings_.dispatch_process_at_max_ms;
  if (!is_late) wrong(asked.id + ": a good request was refused: " + describe(decided.record));
  return true;
}

bool ExpectedEnd::is_excused(const std::string& id, const std::string& name, const Target& target) const {
  const auto of_piece = [&](const Order& order) {
    const Piece piece{id, name, order.first, order.second};
    return specification_.excused(piece) || called_off_.contains(piece) || forgotten_.contains(piece);
  };
  if (of_piece(*target.asked)) return true;
  if (!expired_.contains({id, name, target.asked->first, target.asked->second})) return false;
  // What may expire, too, may have waited until this one took it over.
  for (auto below = target.all.rbegin(); below != target.all.rend(); ++below) {
    if (of_piece(below->first)) return true;  // it stood in front of all below it
    if (!below->second) return target.released && *target.released >= below->first;
  }
  return true;
}

void ExpectedEnd::take_request(const Decided& decided, UnixMs now) {
  const Record& record = decided.record;
  if (header_of(record, header::kControl)) {
    // In tap the pipeline could not know the default epoch: a RESET is refused unless requests carry theirs.
    if (!tap_ || settings_.requests_carry_epochs)
      default_epoch_ = std::max(default_epoch_, static_cast<std::uint32_t>(number_of(record, header::kEpoch)));
    return;
  }
  const std::optional<Asked> asked = specification_.asked(record);
  if (!asked || (tap_ && header_of(record, header::kReprocess))) return;
  if (journal_ && is_too_late(decided, *asked, now)) return;
  const Order order{asked->epoch.value_or(default_epoch_), asked->sequence};
  if (journal_) {
    requests_[record.offset] = {asked->id, order};
    if (asked->expires_at) {
      const auto [wanted, first] = wanted_until_.insert({{asked->id, order}, *asked->expires_at});
      if (!first) wanted->second = std::min(wanted->second, *asked->expires_at);
    }
  }
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
    raise_barrier(document, order);
    for (auto& [name, target] : document.targets) ask(target, order, {});
    return;
  }
  if (decided.decision.outcome == Outcome::kUnchanged || is_unchanged_beside_lanes(decided, *asked, order))
    return take_unchanged(*asked, order);
  const bool reprocesses = header_of(record, header::kReprocess) == "true";
  if (asked->removal && !asked->targets) return take_removal_for_all(asked->id, order, reprocesses);
  std::set<std::string> targets = named_by(*asked);
  if (reprocesses) (void)leave_out_ordered(targets);  // for them it is no other version
  if (targets.empty()) return;
  Document& document = documents_[asked->id];
  if (document.barrier && order < *document.barrier) return;
  for (const std::string& name : targets) {
    if (ordered_.contains(name))
      document.in_lanes = true;
    else
      ask(document.targets[name], order, asked->expires_at);
  }
}

// It went to `work` for ordered targets alone. The others, which it is new for, must have what it asks for.
bool ExpectedEnd::is_unchanged_beside_lanes(const Decided& decided, const Asked& asked, const Order& order) {
  const Outcome outcome = decided.decision.outcome;
  const bool goes = outcome == Outcome::kForwarded || outcome == Outcome::kRegistered || outcome == Outcome::kWaiting ||
                    decided.decision.reason == Reason::kExpired;
  if (!goes || decided.decision.table_row != TableRow::kO1) return false;
  Document& document = documents_[asked.id];
  document.in_lanes = true;
  if (document.barrier && order < *document.barrier) return false;
  std::set<std::string> targets = named_by(asked);
  if (asked.removal && !asked.targets)
    for (const auto& [name, target] : document.targets) targets.insert(name);
  return std::any_of(targets.begin(), targets.end(), [&](const std::string& name) {
    return !ordered_.contains(name) && document.targets[name].asked < order;
  });
}

void ExpectedEnd::take_unchanged(const Asked& asked, const Order& order) {
  const auto document = documents_.find(asked.id);
  if (document == documents_.end()) return wrong(asked.id + ": unchanged, but nobody asked for it before");
  std::set<std::string> targets = named_by(asked);
  if (asked.removal && !asked.targets) {
    for (const auto& [name, target] : document->second.targets) targets.insert(name);
    raise_barrier(document->second, order);
  }
  for (const std::string& name : targets) {
    if (ordered_.contains(name)) continue;
    Target& target = document->second.targets[name];
    const bool has_it = target.released && target.released == target.asked && target.released_payload == asked.payload;
    if (!has_it || !settings_.skip_unchanged)
      wrong(asked.id + " for " + name + ": " + named(order) + " is unchanged, but it does not have what that asks for");
    ask(target, order, asked.expires_at);
    target.released = order;
    target.released_revision = 0;
    take_dispatched(document->second, target, order);
  }
}

std::set<std::string> ExpectedEnd::named_by(const Asked& asked) const {
  return asked.targets ? std::set<std::string>(asked.targets->begin(), asked.targets->end()) : default_targets_;
}

bool ExpectedEnd::leave_out_ordered(std::set<std::string>& targets) const {
  return std::erase_if(targets, [this](const std::string& name) { return ordered_.contains(name); }) > 0;
}

// From here on commands see it, and nothing older is owed.
void ExpectedEnd::take_dispatched(const Document& document, Target& target, const Order& order) {
  target.all.erase(target.all.begin(), target.all.lower_bound(order));
  target.dispatched = std::max(target.dispatched, std::optional(order));
  // A delete for all was a barrier when it came.
  if (document.barriers.contains(order)) target.deleted = std::max(target.deleted, std::optional(order));
}

void ExpectedEnd::raise_barrier(Document& document, const Order& order) const {
  document.barrier = std::max(document.barrier, std::optional(order));
  if (journal_) document.barriers.insert(order);
}

// For the default targets and those that the document has; for all when nothing is known of it.
void ExpectedEnd::take_removal_for_all(const std::string& id, const Order& order, bool reprocesses) {
  const auto known = documents_.find(id);
  const Document before = known != documents_.end() ? known->second : Document();
  if (before.barrier && order < *before.barrier) return;
  std::set<std::string> targets = default_targets_;
  for (const auto& [name, target] : before.targets) targets.insert(name);
  if (before.targets.empty() && !before.in_lanes)
    for (const config::Target& target : settings_.targets) targets.insert(target.name);
  const bool asks_lanes = leave_out_ordered(targets) && !reprocesses;
  if (targets.empty() && reprocesses) return;
  Document& document = documents_[id];
  document.in_lanes = document.in_lanes || asks_lanes;
  const bool moves = std::any_of(targets.begin(), targets.end(),
                                 [&](const std::string& name) { return document.targets[name].asked < order; });
  raise_barrier(document, order);
  if (!moves) return;
  for (const std::string& name : targets) ask(document.targets[name], order, {});
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
  // Nobody can try again what has no request.
  if (decided.decision.reason == Reason::kNoRequest)
    for (const config::Target& target : settings_.targets)
      if (result_for == target.name || result_for == "*") call_off(id, target.name, order);
  const bool registers = command == "register" && decided.decision.outcome != Outcome::kDeadLettered;
  const bool gives_up = decided.decision.outcome == Outcome::kRemoved && result_for && *result_for != "*";
  if (!registers && !gives_up) return;
  const auto name = registers ? header_of(record, header::kTargets) : result_for;
  if (name && ordered_.contains(std::string(*name))) return;
  Document& document = documents_[id];
  // Orders have no revision here: one that was processed again stands above the order that it is of.
  const bool of_barrier = decided.decision.table_row == TableRow::kR0 && document.barrier == order;
  if (registers && document.barrier && (order < *document.barrier || of_barrier)) return;
  ask_by_command(document.targets[std::string(name.value_or(""))], order);
}

// Only what was done: a dry run and what was refused change nothing.
void ExpectedEnd::take_operation(const Decided& decided) {
  const Record& record = decided.record;
  const auto operation = header_of(record, header::kControl);
  const auto named = header_of(record, header::kTarget);
  if (operation == "expire" && decided.decision.outcome == Outcome::kApplied) {
    const std::string id(*record.key);
    for (const auto& [name, target] : documents_[id].targets) {
      if (named && *named != name) continue;
      if (target.asked) called_off_.insert({id, name, target.asked->first, target.asked->second});
      for (const auto& [order, expires_at] : target.all) called_off_.insert({id, name, order.first, order.second});
    }
    expired_by_hand_.insert(id);
  }
  if (operation == "release" && decided.decision.outcome == Outcome::kReleased) {
    const std::string id(*record.key);
    const Order order = order_in(record);
    payloads_[id].insert({order, hash_of(record.payload)});
    ask_by_command(documents_[id].targets[std::string(named.value_or(settings_.targets.front().name))], order);
  }
}

// It takes what rises until the delete is answered, when another target waits below that for something newer.
bool ExpectedEnd::may_go_on(const std::string& name) const {
  return settings_.starvation_after_ms != 0 ||
         std::any_of(settings_.targets.begin(), settings_.targets.end(),
                     [&](const config::Target& one) { return one.name == name && one.order == "monotonic"; });
}

void ExpectedEnd::take_release(const Released& released) {
  static const std::optional<Order> kNone;
  const std::string id(released.id);
  const std::string name(released.target);
  const Order order{released.epoch, released.sequence};
  Delivered delivered{id, name, order, hash_of(released.payload)};
  if (!was_asked(delivered)) early_.push_back(std::move(delivered));  // before its request is read
  if (ordered_.contains(name)) return;
  Document& document = documents_[id];
  Target& target = document.targets[name];
  const auto what = [&] { return id + " for " + name + ": release of " + named(order); };
  if (target.released && std::pair(order, released.revision) <= std::pair(*target.released, target.released_revision))
    wrong(what() + " follows " + named(*target.released));
  const std::optional<Order>& barrier = !journal_ ? document.barrier : may_go_on(name) ? kNone : target.deleted;
  if (barrier && order < *barrier) wrong(what() + " although it was deleted everywhere at " + named(*barrier));
  target.released = order;
  target.released_revision = released.revision;
  target.released_payload.reset();
  if (released.payload) target.released_payload.emplace(*released.payload);
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
    if (!is_excused(id, name, target)) wrong(what());
  }
  documents_.erase(found);
}

}  // namespace reseq::judge
