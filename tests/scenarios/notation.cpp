#include "notation.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace reseq::scenarios {
namespace {

std::string bytes_of(std::uint64_t number) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[7 - i] = static_cast<char>(number >> (8 * i) & 0xFF);
  return bytes;
}

engine::Route route_of(const std::string& text) {
  const auto [prefix, behind_prefix] = split(text, ';');
  const auto [glob, behind_glob] = split(behind_prefix, ';');
  const auto [header, targets] = split(behind_glob, ';');
  engine::Route route;
  if (prefix != "-") route.id_prefix = prefix;
  if (glob != "-") route.id_glob = glob;
  if (header != "-") std::tie(route.header, route.header_value) = split(header, ':');
  if (targets != "-") route.targets = targets_of(targets);
  return route;
}

bool configure_policy(engine::Context& context, const std::string& key, const std::string& value) {
  const auto drops = [&] {
    return value == "drop" ? engine::OnUnregistered::kDrop : engine::OnUnregistered::kDeadLetter;
  };
  if (key == "on_unregistered")
    context.policies.on_unregistered = drops();
  else if (key == "on_unregistered_target")
    context.policies.on_unregistered_target = drops();
  else if (key == "on_missing")
    context.policies.on_missing = value == "stop" ? engine::OnMissing::kStop : engine::OnMissing::kRedirect;
  else if (key == "intake")
    context.intake = value == "tap" ? engine::Intake::kTap : engine::Intake::kInline;
  else if (key == "carry_epochs")
    context.requests_carry_epochs = value == "yes";
  else
    return false;
  return true;
}

bool configure_time(engine::Context& context, const std::string& key, const std::string& value) {
  const auto milliseconds = [&] { return Milliseconds(static_cast<std::int64_t>(number_of(value))); };
  if (key == "starvation_ms")
    context.starvation_after = milliseconds();
  else if (key == "timeout_ms")
    context.registration_timeout = milliseconds();
  else if (key == "retention_ms")
    context.watermark_retention = milliseconds();
  else if (key == "drift_ms")
    context.max_clock_drift = milliseconds();
  else
    return false;
  return true;
}

bool configure_dispatch(engine::DispatchRules& rules, const std::string& key, const std::string& value) {
  const auto milliseconds = [&] { return Milliseconds(static_cast<std::int64_t>(number_of(value))); };
  if (key == "journal")
    rules.journal = value == "yes";
  else if (key == "in_flight")
    rules.in_flight_max = number_of(value);
  else if (key == "idle_from")
    rules.idle_from_priority = static_cast<unsigned>(number_of(value));
  else if (key == "process_at_max_ms")
    rules.process_at_max = milliseconds();
  else if (key == "consolidate_ms")
    value == "auto" ? void(rules.consolidate_measured = true) : void(rules.consolidate = milliseconds());
  else if (key == "inherit_failed")
    rules.inherit_failed = value == "yes";
  else if (key == "markers")
    rules.markers = value == "yes";
  else if (key == "one_at_a_time")
    rules.one_at_a_time = value == "yes";
  else if (key == "lease_ms")
    rules.lease = milliseconds();
  else if (key == "timeouts_max")
    rules.timeouts_max = static_cast<std::uint32_t>(number_of(value));
  else if (key == "attempts")
    rules.last_attempt_only = value == "last";
  else if (key == "failures")
    rules.failures = value == "retry";
  else if (key == "retries_max")
    rules.retries_max = static_cast<std::uint32_t>(number_of(value));
  else if (key == "repeats_max")
    rules.repeats_max = static_cast<std::uint32_t>(number_of(value));
  else if (key == "breaker_documents")
    rules.breaker_documents = static_cast<std::uint32_t>(number_of(value));
  else if (key == "breaker_pause_ms")
    rules.breaker_pause = milliseconds();
  else if (key == "breaker_pause_max_ms")
    rules.breaker_pause_max = milliseconds();
  else if (key == "backoff_ms")
    rules.backoff = rules.backoff_max = milliseconds();
  else if (key == "held_bytes")
    rules.held_bytes_max = number_of(value);
  else
    return false;
  return true;
}

}  // namespace

std::pair<std::string, std::string> split(const std::string& word, char at) {
  const std::size_t place = word.find(at);
  if (place == std::string::npos) return {word, ""};
  return {word.substr(0, place), word.substr(place + 1)};
}

std::uint64_t number_of(const std::string& text) {
  std::size_t used = 0;
  const std::uint64_t number = std::stoull(text, &used);
  if (used != text.size()) throw std::invalid_argument("not a number: " + text);
  return number;
}

WrittenOrder order_of(const std::string& text) {
  WrittenOrder order;
  std::string rest = text;
  if (rest.find(':') != std::string::npos) {
    const auto [epoch, behind] = split(rest, ':');
    order.epoch = Epoch(static_cast<std::uint32_t>(number_of(epoch)));
    rest = behind;
  }
  const auto [sequence, revision] = split(rest, '.');
  order.sequence = Sequence(bytes_of(number_of(sequence)));
  if (!revision.empty()) order.revision = Revision(number_of(revision));
  return order;
}

TargetNumber target_of(const std::string& text) {
  const auto place = std::find(kTargets.begin(), kTargets.end(), text);
  if (place == kTargets.end()) throw std::invalid_argument("not a target: " + text);
  return TargetNumber(static_cast<std::uint8_t>(place - kTargets.begin()));
}

TargetSet targets_of(const std::string& text) {
  TargetSet targets;
  for (std::string rest = text; !rest.empty();) {
    const auto [first, behind] = split(rest, ',');
    targets |= TargetSet::of(target_of(first));
    rest = behind;
  }
  return targets;
}

Reason reason_of(const std::string& text) {
  const auto place = std::find(kReasonNames.begin(), kReasonNames.end(), text);
  if (place == kReasonNames.end()) throw std::invalid_argument("not a reason: " + text);
  return static_cast<Reason>(place - kReasonNames.begin());
}

bool configure(engine::Context& context, const std::string& key, const std::string& value) {
  if (configure_policy(context, key, value) || configure_time(context, key, value) ||
      configure_dispatch(context.dispatch, key, value))
    return true;
  if (key == "all") {
    context.all_targets = targets_of(value);
  } else if (key == "default") {
    context.default_targets = value == "-" ? TargetSet{} : targets_of(value);
  } else if (key == "potent") {
    context.potent = targets_of(value);
  } else if (key == "monotonic") {
    context.monotonic = targets_of(value);
  } else if (key == "strict") {
    context.lanes.targets.strict = targets_of(value);
  } else if (key == "total") {
    context.lanes.targets.total = targets_of(value);
  } else if (key == "gap_ms") {
    context.lanes.gap_timeout = Milliseconds(static_cast<std::int64_t>(number_of(value)));
  } else if (key == "lane_in_flight") {
    context.lanes.lane_in_flight_max = static_cast<std::uint32_t>(number_of(value));
  } else if (key == "entries") {
    context.lanes.journal_entries_max = number_of(value);
  } else if (key == "gap_markers") {
    context.lanes.markers = value == "yes";
  } else if (key == "route") {
    context.routes.push_back(route_of(value));
  } else if (key == "work_bytes") {
    context.work_bytes_max = number_of(value);
  } else if (key == "output_bytes") {
    const auto [target, bytes] = split(value, ':');
    context.output_bytes_max[target_of(target).value()] = number_of(bytes);
  } else {
    return false;
  }
  return true;
}

std::string text_of(const Order& order) {
  std::string text;
  if (order.epoch != Epoch{}) text += std::to_string(order.epoch.value()) + ":";
  text += std::to_string(order.sequence.number().value_or(0));
  if (order.revision != Revision{}) text += "." + std::to_string(order.revision.value());
  return text;
}

std::string text_of(TargetSet targets) {
  std::string text;
  for (const TargetNumber target : targets) text += (text.empty() ? "" : ",") + std::string(kTargets[target.value()]);
  return text;
}

std::string text_of(const Decision& decision, const Forward* forward) {
  std::string text = std::string(name_of(decision.outcome)) + " " + std::string(name_of(decision.table_row));
  if (decision.reason != Reason::kNone) text += " " + std::string(name_of(decision.reason));
  if (forward == nullptr) return text;
  text += " " + text_of(forward->targets);
  const bool plain = forward->order.epoch == Epoch{} && forward->order.revision == Revision{};
  return plain ? text : text + " as " + text_of(forward->order);
}

std::string text_of(const JournalEntry& entry) {
  constexpr std::array kStates = {"waits", "under way", "gone"};
  std::string text = kStates[static_cast<std::size_t>(entry.state)];
  text += " " + text_of(entry.order) + ":" + (entry.targets.empty() ? "-" : text_of(entry.targets));
  if (entry.state == EntryState::kProcessing) return text + " lease " + std::to_string(entry.lease_until.value());
  if (entry.state == EntryState::kGone) return text;
  text += " at " + std::to_string(entry.urgency.priority) + "/" + std::to_string(entry.urgency.process_at.value());
  if (entry.urgency.expires_at != UnixMs()) text += " expires " + std::to_string(entry.urgency.expires_at.value());
  if (entry.urgency.consolidate_until != UnixMs())
    text += " gathers " + std::to_string(entry.urgency.consolidate_until.value());
  if (entry.timeouts == kGivenUp) return text + " given up";
  if (entry.timeouts > 0) text += " timeouts " + std::to_string(entry.timeouts);
  if (entry.losses > 0) text += " losses " + std::to_string(entry.losses);
  if (entry.retry_at != UnixMs()) text += " retry " + std::to_string(entry.retry_at.value());
  return text;
}

std::string text_of(const Row& row) {
  std::string text;
  for (const Group& group : row.groups) {
    text += (text.empty() ? "" : " | ") + text_of(group.order) + (group.requested ? "*" : "");
    if (!group.pending.empty()) text += " pending:" + text_of(group.pending);
    if (!group.served.empty()) text += " served:" + text_of(group.served);
    if (!group.removed.empty()) text += " removed:" + text_of(group.removed);
  }
  if (row.barrier) text += " | barrier " + text_of(*row.barrier);
  for (const Meanwhile& one : row.meanwhile)
    text += " | meanwhile " + std::to_string(one.released.value()) + ":" + text_of(one.targets);
  for (const Overtaken& one : row.overtaken) text += " | overtaken " + text_of(one.began) + ":" + text_of(one.targets);
  for (const Lane& lane : row.lanes) {
    text += (text.empty() ? "" : " | ") + text_of(TargetSet::of(lane.target)) + ": " + std::to_string(lane.places);
    text += lane.places == 1 ? " place" : " places";
    if (lane.mark != Order()) text += ", mark " + text_of(lane.mark);
  }
  for (const JournalEntry& entry : row.journal) text += (text.empty() ? "" : " | ") + text_of(entry);
  for (const Failure& one : row.failures)
    text += " | " + std::string(one.for_good ? "failed " : "retries ") + text_of(one.order) + ":" +
            text_of(one.targets) + " " + std::to_string(one.retries) + (one.error.empty() ? "" : " " + one.error);
  if (row.overdue) text += " | overdue";
  if (row.deadline != UnixMs{}) text += " | until " + std::to_string(row.deadline.value());
  return text;
}

std::string text_of(const std::vector<Breaker>& breakers) {
  std::string text;
  for (const Breaker& one : breakers) {
    text += (text.empty() ? "" : " | ") + text_of(TargetSet::of(one.target));
    if (!one.open) {
      text += one.counted.empty() ? " was down" : " counts " + std::to_string(one.counted.size());
      continue;
    }
    text += one.until_resume ? std::string(" until resume") : " tried at " + std::to_string(one.probe_at.value());
    if (!one.error.empty()) text += " " + one.error;
  }
  return text;
}

}  // namespace reseq::scenarios
