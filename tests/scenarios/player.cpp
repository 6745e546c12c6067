#include "player.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "codec/place_row.h"
#include "engine/journal/journal.h"
#include "engine/orders/orders.h"
#include "notation.h"

namespace reseq::scenarios {
namespace {

bool says(const Line& line, const std::string& word) {
  return std::find(line.words.begin(), line.words.end(), word) != line.words.end();
}

std::optional<std::string> value_of(const Line& line, const std::string& key) {
  for (const std::string& word : line.words)
    if (const auto [name, value] = split(word); name == key && word.size() > key.size()) return value;
  return std::nullopt;
}

bool is_list(const std::string& word) {
  const std::string first = split(word, ',').first;
  return std::find(kTargets.begin(), kTargets.end(), first) != kTargets.end();
}

// The word behind id and order, if it is a list of targets.
std::optional<TargetSet> list_of(const Line& line) {
  if (line.words.size() < 3 || !is_list(line.words[2])) return std::nullopt;
  return targets_of(line.words[2]);
}

std::uint32_t attempt_of(const Line& line) {
  return static_cast<std::uint32_t>(number_of(value_of(line, "attempt").value_or("0")));
}

Unregister unregister_of(const Line& line, const WrittenOrder& order) {
  Unregister command{line.words[0], order.epoch, order.sequence, order.revision, {}, false, says(line, "list")};
  command.everything = line.words[2] == "*";
  command.targets = list_of(line).value_or(TargetSet{});
  return command;
}

SequenceResult result_of(const Line& line, const WrittenOrder& order) {
  SequenceResult command;
  command.id = line.words[0];
  command.epoch = order.epoch;
  command.sequence = order.sequence;
  command.revision = order.revision;
  command.target = target_of(line.words.at(2));
  if (says(line, "delete")) command.op = Op::kDelete;
  command.attempt = attempt_of(line);
  if (const auto bytes = value_of(line, "bytes")) command.output_bytes = number_of(*bytes);
  if (const auto observed = value_of(line, "observed")) command.observed = Version(number_of(*observed));
  return command;
}

Heartbeat heartbeat_of(const Line& line, const WrittenOrder& order, UnixMs now) {
  Heartbeat command{line.words[0], order.epoch, order.sequence, order.revision, 0, now};
  command.attempt = attempt_of(line);
  return command;
}

Fail fail_of(const Line& line, const WrittenOrder& order) {
  Fail command;
  command.id = line.words[0];
  command.epoch = order.epoch;
  command.sequence = order.sequence;
  command.revision = order.revision;
  command.everything = line.words.at(2) == "*";
  if (!command.everything) command.target = target_of(line.words[2]);
  command.attempt = attempt_of(line);
  if (says(line, "transient")) command.kind = FailureKind::kTransient;
  if (says(line, "permanent")) command.kind = FailureKind::kPermanent;
  if (says(line, "universal")) command.scope = FailureScope::kUniversal;
  command.without_effect = says(line, "without-effect");
  for (const std::string& word : line.words)
    if (word.starts_with("error=")) command.error = std::string_view(word).substr(6);
  return command;
}

DispatchByHand moving_of(const Line& line) {
  DispatchByHand command;
  command.id = line.words.at(0);
  command.dry_run = says(line, "dry");
  if (line.words.size() > 1 && is_list(line.words[1])) command.targets = targets_of(line.words[1]);
  if (const auto until = value_of(line, "until")) command.until = UnixMs(static_cast<std::int64_t>(number_of(*until)));
  if (const auto expected = value_of(line, "expect"))
    command.expected = ExpectedRequest{Epoch(0), order_of(*expected).sequence};
  if (command.until.has_value() != (line.verb == "dispatch-postpone"))
    throw std::invalid_argument("until belongs to dispatch-postpone");
  return command;
}

}  // namespace

Player::Player(const Case& played) : case_(played) {
  context_.now = UnixMs(1000);
  context_.all_targets = context_.default_targets = targets_of("search,catalogue,lake");
  context_.watermark_retention = Milliseconds{};
  context_.policies.events = engine::EventPolicy::kAll;
}

std::vector<std::string> Player::play() {
  for (const Line& line : case_.lines) try {
      play(line);
    } catch (const std::exception& error) {
      failures_.push_back(case_.file + ":" + std::to_string(line.number) + ": cannot be read: " + error.what());
    }
  return failures_;
}

void Player::play(const Line& line) {
  if (line.verb == "set") return configure(line);
  if (line.verb == "at") {
    context_.now = UnixMs(static_cast<std::int64_t>(number_of(line.words.at(0))));
  } else if (line.verb == "collide") {
    state_.collisions.insert(line.words.at(0));
  } else if (line.verb == "row") {
    const auto row = state_.rows.find(line.words.at(0));
    compare(line, row == state_.rows.end() ? "none" : text_of(row->second));
  } else if (line.verb == "{") {
    open_batch();
    grouped_ = true;
  } else if (line.verb == "}") {
    grouped_ = false;
    close_batch();
  } else if (line.verb == "timer") {
    fire(line);
  } else if (line.verb == "sweep") {
    sweep(line);
  } else if (line.verb == "turn") {
    context_.gate == nullptr ? decide_nothing(line) : turn(line);
  } else if (line.verb == "left") {
    compare(line, left_.empty() ? "-" : left_);
  } else if (line.verb == "told") {
    compare(line, told_.empty() ? "-" : told_);
  } else if (line.verb == "marked") {
    compare(line, marked_.empty() ? "-" : marked_);
  } else if (line.verb == "down") {
    const std::string down = text_of(state_.partition.breakers);
    compare(line, down.empty() ? "-" : down);
  } else if (line.verb == "held") {
    compare(line, held());
  } else if (line.verb == "lanes") {
    compare(line, lanes());
  } else if (line.verb == "references" && value_of(line, "age")) {
    reference_age_ = Milliseconds(static_cast<std::int64_t>(number_of(*value_of(line, "age"))));
  } else if (line.verb == "references") {
    const std::string& are = line.words.at(0);
    using Found = engine::References::Found;
    const std::map<std::string, Found> found = {
        {"read", Found::kRead}, {"unread", Found::kUnread}, {"gone", Found::kGone}, {"unreadable", Found::kUnreadable}};
    if (!found.contains(are)) throw std::invalid_argument("read, unread, gone or unreadable");
    references_.found = found.at(are);
  } else {
    decide(line);
  }
}

void Player::configure(const Line& line) {
  for (const std::string& word : line.words) {
    const auto [key, value] = split(word);
    if (key == "floor")
      state_.partition.floors.global = Version(number_of(value));
    else if (key == "last")
      state_.partition.last = Version(number_of(value));
    else if (key == "gate_ms")
      stand_gate(value, UINT64_MAX);
    else if (key == "reference_gate_ms")
      stand_gate(value, 0);
    else if (!scenarios::configure(context_, key, value))
      throw std::invalid_argument("not a setting: " + word);
  }
}

void Player::stand_gate(const std::string& window_ms, std::uint64_t reference_above) {
  context_.gate =
      &gate_.emplace(gate::WindowGate::Settings{.window = Milliseconds(static_cast<std::int64_t>(number_of(window_ms))),
                                                .every = 1,
                                                .drained_max = 2,
                                                .partitions = 1,
                                                .reference_above = reference_above});
}

void Player::open_batch() {
  driver_ = std::make_unique<driver::BatchDriver>(state_, state_.partition, context_);
}

void Player::decide(const Line& line) {
  if (!grouped_) open_batch();
  const engine::Taken answer = driver_->decide(command_of(line), next_, !says(line, "unread"));
  if (answer == engine::Taken::kDecided) {
    inputs_.push_back(&line);
    next_ = Offset(next_.value() + 1);
  } else {
    compare(line, answer == engine::Taken::kStop ? "stop" : "requests-first");
  }
  if (!grouped_) close_batch();
}

void Player::fire(const Line& line) {
  open_batch();
  close_batch({.overdue = {&line.words.at(0), 1}});
  compare(line, batch().events().empty() ? "-" : "overdue");
}

void Player::sweep(const Line& line) {
  open_batch();
  close_batch({.expired = {&line.words.at(0), 1}});
  const bool removed = !batch().changes().empty() && batch().changes().front().row == nullptr;
  const bool silent = batch().emissions().empty() && batch().events().empty();
  compare(line, !silent ? "something sent" : removed ? "removed" : "-");
}

// All kinds of the gate's agenda, and what left because of them.
void Player::turn(const Line& line) {
  open_batch();
  const std::array<driver::GateTurn, 2> turns = {{{gate::kOpen, context_.now, 1}, {gate::kDrain, context_.now, 2}}};
  const std::span<const std::string> none;
  driver_->close({.overdue = none, .turns = turns, .expired = none, .references = &references_});
  std::string got;
  for (std::size_t n = 0; n < batch().let_through().size(); ++n) {
    const std::string_view key = batch().let_through()[n].key;
    const auto held = codec::decode_held(key, *state_.row(key));
    const gate::Note note = gate::decode_note(std::get<codec::HeldRow>(held).note);
    got += (got.empty() ? "" : "; ") + note.id + " " + text_of(note.forward.order) + " ";
    std::string sent = "-";
    for (const Emission& emission : batch().emissions())
      if (const auto* forward = std::get_if<Forward>(&emission.what); forward && emission.input.value() == n)
        sent = text_of(forward->targets);
      else if (const auto* letter = std::get_if<DeadLetter>(&emission.what); letter && emission.input.value() == n)
        sent = name_of(letter->reason);
    got += sent;
  }
  compare(line, got.empty() ? "-" : got);
  state_.take(batch(), next_);
}

// A batch without inputs.
void Player::decide_nothing(const Line& line) {
  open_batch();
  close_batch();
  compare(line, left_.empty() ? "-" : left_);
}

// What waited and left, or was to leave and did not.
std::string Player::left() const {
  std::string text;
  for (std::size_t n = 0; n < batch().let_through().size(); ++n) {
    if (is_held(InputIndex(static_cast<std::uint32_t>(inputs_.size() + n)))) continue;
    std::string sent = "-";
    Order order;
    for (const Event& event : batch().events())
      if (event.input.value() == inputs_.size() + n && event.order) order = *event.order;
    for (const Emission& emission : batch().emissions()) {
      if (emission.input.value() != inputs_.size() + n) continue;
      if (const auto* forward = std::get_if<Forward>(&emission.what))
        sent = text_of(forward->targets) +
               (forward->attempt() > 1 ? " attempt " + std::to_string(forward->attempt()) : "");
      else if (const auto* release = std::get_if<Release>(&emission.what))
        sent = "released " + text_of(TargetSet::of(release->target)) + risen(release->version);
      else if (const auto* letter = std::get_if<DeadLetter>(&emission.what))
        sent = name_of(letter->reason);
    }
    text += (text.empty() ? "" : "; ") + std::string(batch().let_through()[n].id) + " " + text_of(order) + " " + sent;
  }
  return text;
}

bool Player::is_held(InputIndex input) const {
  return std::any_of(batch().holds().begin(), batch().holds().end(),
                     [&](const Hold& hold) { return hold.input == input; });
}

// What waits in the journal, in the order in which it came, and how.
std::string Player::held() const {
  std::string text;
  for (const auto& [key, value] : state_.others.all()) {
    const auto decoded = codec::decode_held(key, value);
    if (const auto* row = std::get_if<codec::HeldRow>(&decoded))
      text += (text.empty() ? "" : "; ") + std::string(row->note) + (row->reference ? " by place" : " whole");
  }
  return text.empty() ? "-" : text;
}

// All places, by lane, and what becomes of them.
std::string Player::lanes() const {
  std::string text;
  for (const auto& [key, value] : state_.others.all()) {
    const auto decoded = codec::decode_place(key, value);
    const auto* const place = std::get_if<codec::PlaceRow>(&decoded);
    if (place == nullptr) continue;
    const bool held = state_.others.row(codec::held_key_of_place(key)).has_value();
    text += (text.empty() ? "" : "; ") + text_of(TargetSet::of(place->target)) + " " + std::string(place->id) + " " +
            text_of(place->order) +
            (place->ended ? " ended"
             : held       ? " held"
                          : " waits");
    if (place->queued && place->queued->retry_at != UnixMs())
      text += ", sent as if at " + std::to_string(place->queued->retry_at.value());
    if (!place->due) continue;
    const bool waits = place->is_waited_for();
    const bool runs = !waits || *place->due != codec::kNever;
    text += !waits ? " at once" : runs ? " until " + std::to_string(place->due->value()) : " without a clock";
  }
  return text.empty() ? "-" : text;
}

// Of what waited before the batch and ended, and of leases.
std::string Player::told() const {
  std::string text;
  for (const Event& event : batch().events()) {
    if (event.input != kNoInput || event.kind == EventKind::kOverdue) continue;
    text += (text.empty() ? "" : "; ") + std::string(event.id) + " " + text_of(event.order.value_or(Order())) + " ";
    text += event.kind == EventKind::kLeaseLost ? "lease_lost" : std::string(name_of(event.decision.reason));
  }
  return text;
}

// What outputs have got in the place of results.
std::string Player::marked() const {
  std::string text;
  for (const Emission& emission : batch().emissions()) {
    const auto* marker = std::get_if<Marker>(&emission.what);
    if (marker == nullptr) continue;
    const NoResult& what = *marker->what;
    text += (text.empty() ? "" : "; ") + std::string(what.id) + " " + text_of(what.order) + " " +
            text_of(TargetSet::of(marker->target)) + " " + std::string(name_of(what.reason)) + " " +
            std::to_string(what.attempts) + (what.error.empty() ? "" : " " + std::string(what.error));
    text += risen(what.version);
  }
  return text;
}

void Player::close_batch(const driver::Agenda& agenda) {
  std::vector<driver::GateTurn> turns;
  driver::Agenda journal = agenda;
  if (context_.dispatch.keeps_under_way() || !state_.others.all().empty()) {
    const auto rows = static_cast<std::uint32_t>(100 + inputs_.size());
    const engine::Journal journals(context_.dispatch, reference_age_);
    const engine::Orders orders(true);
    for (const engine::AgendaSource* source :
         {static_cast<const engine::AgendaSource*>(&journals), static_cast<const engine::AgendaSource*>(&orders)})
      for (const auto& kind : source->agenda())
        if (source->next(kind.number, {state_, state_.partition, context_.now}) || kind.each_batch)
          turns.push_back({kind.number, source->until(kind.number, context_.now), rows});
    if (context_.gate == nullptr) journal.turns = turns;
    journal.references = &references_;
  }
  driver_->close(journal);
  note_versions();
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    compare(*inputs_[i], outcome_of_input(InputIndex(static_cast<std::uint32_t>(i))));
  left_ = left();
  told_ = told();
  marked_ = marked();
  if (batch().decisions().size() != inputs_.size())
    failures_.push_back(case_.file + ": a batch without one decision for every input");
  state_.take(batch(), Offset(next_.value() - static_cast<std::int64_t>(inputs_.size())));
  inputs_.clear();
}

// In the order in which records leave.
void Player::note_versions() {
  fallen_.clear();
  for (const Emission& emission : batch().emissions()) {
    const auto* release = std::get_if<Release>(&emission.what);
    const auto* marker = std::get_if<Marker>(&emission.what);
    if (release == nullptr && marker == nullptr) continue;
    const Version version = release != nullptr ? release->version : marker->what->version;
    if (version <= last_release_) fallen_.insert(version);
    last_release_ = version;
  }
}

// What is to be said of a version, if it is wrong.
std::string Player::risen(Version version) const {
  return fallen_.contains(version) ? " with a version that does not rise" : "";
}

// What the decision and the records sent for it say together. They have to agree.
std::string Player::outcome_of_input(InputIndex input) {
  const Decision& decision = batch().decisions()[input.value()];
  for (const Hold& hold : batch().holds())
    if (hold.input == input && context_.gate != nullptr) return "held " + std::string(name_of(decision.table_row));
  const Forward* forward = nullptr;
  std::string sent;
  for (const Emission& emission : batch().emissions()) {
    if (emission.input != input || std::holds_alternative<Marker>(emission.what)) continue;
    if (!sent.empty()) return "more than one record";
    sent = "something else";
    if (const Forward* found = std::get_if<Forward>(&emission.what)) {
      forward = found;
      sent = "forwarded";
    } else if (const Release* release = std::get_if<Release>(&emission.what)) {
      sent = "released" + risen(release->version);
    } else if (const DeadLetter* letter = std::get_if<DeadLetter>(&emission.what)) {
      sent = letter->reason == decision.reason ? "dead_lettered" : "dead-lettered with another reason";
    } else if (std::holds_alternative<Redirect>(emission.what)) {
      sent = "redirected";
    }
  }
  constexpr std::array kSilent = {Outcome::kRegistered, Outcome::kRemoved,   Outcome::kApplied, Outcome::kDropped,
                                  Outcome::kWaiting,    Outcome::kUnchanged, Outcome::kHeld};
  const bool silent = std::find(kSilent.begin(), kSilent.end(), decision.outcome) != kSilent.end();
  if (sent != (silent ? "" : name_of(decision.outcome))) return "sent: " + sent + ", " + text_of(decision, forward);
  return text_of(decision, forward);
}

Registration Player::registration_of(const Line& line) {
  const WrittenOrder order = order_of(line.words.at(1));
  Registration what;
  what.id = line.words[0];
  what.epoch = order.epoch;
  what.sequence = order.sequence;
  what.revision = order.revision;
  what.targets = list_of(line);
  if (says(line, "delete")) what.op = Op::kDelete;
  if (const auto header = value_of(line, "header")) {
    texts_.push_back(split(*header, ':'));
    headers_.push_back({Header{texts_.back().first, texts_.back().second}});
    what.headers = headers_.back();
  }
  return what;
}

const Wish* Player::wish_of(const Line& line, std::uint64_t work_bytes) {
  const auto date = [&](const std::string& key) {
    const auto text = value_of(line, key);
    return text ? std::optional(UnixMs(static_cast<std::int64_t>(number_of(*text)))) : std::nullopt;
  };
  Wish& wish = wishes_.emplace_back();
  if (const auto priority = value_of(line, "priority")) wish.priority = static_cast<std::uint8_t>(number_of(*priority));
  wish.process_at = date("process_at");
  wish.expires_at = date("expires_at");
  wish.place.timestamp = date("written").value_or(context_.now);
  wish.place.record_bytes = 10;
  wish.place.work_bytes = work_bytes;
  if (const auto content = value_of(line, "asks")) wish.content.low = number_of(*content);
  return &wish;
}

Command Player::command_of(const Line& line) {
  if (line.verb == "request") {
    Request request{registration_of(line), says(line, "reprocess"), PayloadHash{}, 0};
    if (const auto payload = value_of(line, "payload")) request.hash = PayloadHash(number_of(*payload));
    if (const auto bytes = value_of(line, "bytes")) request.work_bytes = number_of(*bytes);
    if (context_.dispatch.keeps_under_way() || value_of(line, "asks")) request.wish = wish_of(line, request.work_bytes);
    return request;
  }
  if (line.verb == "register") return Register{registration_of(line)};
  if (line.verb == "unregister") return unregister_of(line, order_of(line.words.at(1)));
  if (line.verb == "sequence") return result_of(line, order_of(line.words.at(1)));
  if (line.verb == "heartbeat") return heartbeat_of(line, order_of(line.words.at(1)), context_.now);
  if (line.verb == "fail") return fail_of(line, order_of(line.words.at(1)));
  if (line.verb == "expire") {
    Expire command;
    command.id = line.words.at(0);
    if (line.words.size() > 1) command.targets = targets_of(line.words[1]);
    return command;
  }
  if (line.verb == "skip") {
    const WrittenOrder order = order_of(line.words.at(1));
    return SkipPlace{says(line, "dry"), line.words.at(0), order.epoch,
                     order.sequence,    order.revision,   target_of(line.words.at(2))};
  }
  if (line.verb == "resume-target") return ResumeTarget{says(line, "dry"), target_of(line.words.at(0))};
  if (line.verb == "dispatch-now" || line.verb == "dispatch-postpone") return moving_of(line);
  if (line.verb == "reset") return Reset{Epoch(static_cast<std::uint32_t>(number_of(line.words.at(0))))};
  if (line.verb == "refused") return Refused{reason_of(line.words.at(0)), says(line, "missing"), ""};
  throw std::invalid_argument("not a verb: " + line.verb);
}

void Player::compare(const Line& line, const std::string& got) {
  if (got == line.expected) return;
  failures_.push_back(case_.file + ":" + std::to_string(line.number) + ": expected \"" + line.expected + "\", got \"" +
                      got + "\"");
}

}  // namespace reseq::scenarios
