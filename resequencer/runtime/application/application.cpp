#include "runtime/application/application.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "codec/hash.h"
#include "codec/sequence_text.h"
#include "config/rules.h"
#include "engine/gate.h"

namespace reseq::runtime {

namespace {

// Room that a batch header and our own headers take beside the payload (init adds as much).
constexpr std::uint64_t kRecordReserveBytes = 512;
// Of a topic with a compression.type of its own the broker judges the compressed size, and what does not compress gets
// larger. One part in so many is kept free for that (docs/decisions/0061-room-in-topics.md).
constexpr std::uint64_t kCompressionReserve = 1024;

Partitioner partitioner_of(const std::string& name) {
  if (name == "crc32") return Partitioner::kCrc32;
  if (name == "unchecked") return Partitioner::kUnchecked;
  return Partitioner::kMurmur2;
}

engine::EventPolicy events_of(const std::string& name) {
  if (name == "none") return engine::EventPolicy::kNone;
  if (name == "all") return engine::EventPolicy::kAll;
  return engine::EventPolicy::kDrops;
}

codec::DeadLetterHeaders dead_letter_headers_of(const std::string& name) {
  if (name == "streams") return codec::DeadLetterHeaders::kStreams;
  if (name == "spring") return codec::DeadLetterHeaders::kSpring;
  return codec::DeadLetterHeaders::kReseq;
}

engine::Policies policies_of(const config::Settings& settings) {
  using engine::OnMissing;
  using engine::OnUnregistered;
  const auto unregistered = [](const std::string& name) {
    return name == "drop" ? OnUnregistered::kDrop : OnUnregistered::kDeadLetter;
  };
  OnMissing missing = OnMissing::kDeadLetter;
  if (settings.on_missing == "topic") missing = OnMissing::kRedirect;
  if (settings.on_missing == "stop") missing = OnMissing::kStop;
  return {unregistered(settings.on_unregistered), unregistered(settings.on_unregistered_target), missing,
          events_of(settings.events)};
}

engine::DispatchRules dispatch_of(const config::Settings& settings) {
  engine::DispatchRules rules;
  rules.journal = settings.dispatch_mode == "journal";
  rules.in_flight_max = static_cast<std::uint64_t>(settings.dispatch_in_flight_max);
  rules.default_priority = static_cast<std::uint8_t>(settings.dispatch_default_priority);
  rules.idle_from_priority = static_cast<unsigned>(settings.dispatch_idle_from_priority);
  rules.process_at_max = Milliseconds(settings.dispatch_process_at_max_ms);
  rules.consolidate_measured = settings.dispatch_consolidate_ms == config::kWord;
  rules.consolidate = Milliseconds(rules.consolidate_measured ? 0 : settings.dispatch_consolidate_ms);
  rules.one_at_a_time = settings.dispatch_one_at_a_time;
  rules.lease = Milliseconds(settings.dispatch_lease_ms);
  rules.timeouts_max = static_cast<std::uint32_t>(settings.dispatch_timeouts_max);
  rules.last_attempt_only = settings.dispatch_attempts == "last";
  rules.failures = settings.failures_mode == "retry";
  rules.retries_max = static_cast<std::uint32_t>(settings.failures_retries_max);
  rules.backoff = Milliseconds(settings.failures_backoff_ms);
  rules.backoff_max = Milliseconds(settings.failures_backoff_max_ms);
  rules.repeats_max = static_cast<std::uint32_t>(settings.failures_repeats_max);
  rules.markers = rules.failures && settings.failures_on_failure == "marker";
  rules.inherit_failed = rules.failures && settings.failures_inherit_failed;
  rules.breaker_documents = static_cast<std::uint32_t>(settings.failures_breaker_documents);
  rules.breaker_pause = Milliseconds(settings.failures_breaker_pause_ms);
  rules.breaker_pause_max = Milliseconds(settings.failures_breaker_pause_max_ms);
  rules.held_bytes_max = static_cast<std::uint64_t>(settings.held_bytes_max);
  return rules;
}

// Everything of it changes what is dispatched when; also in immediate mode, of what waits since before.
std::string dispatch_text(const config::Settings& s) {
  std::string text = "\ndispatch " + s.dispatch_mode + ' ' + s.dispatch_attempts;
  for (const std::int64_t number :
       {s.dispatch_in_flight_max, s.dispatch_default_priority, s.dispatch_idle_from_priority,
        s.dispatch_process_at_max_ms, s.dispatch_consolidate_ms, std::int64_t{s.dispatch_one_at_a_time},
        s.dispatch_lease_ms, s.dispatch_timeouts_max, s.held_bytes_max})
    text += ' ' + std::to_string(number);
  return text;
}

// Likewise of what is given up.
std::string failures_text(const config::Settings& s) {
  std::string text = "\nfailures " + s.failures_mode + ' ' + s.failures_on_failure;
  for (const std::int64_t number : {s.failures_retries_max, s.failures_backoff_ms, s.failures_backoff_max_ms,
                                    s.failures_repeats_max, s.failures_breaker_documents, s.failures_breaker_pause_ms,
                                    s.failures_breaker_pause_max_ms, std::int64_t{s.failures_inherit_failed}})
    text += ' ' + std::to_string(number);
  return text;
}

std::string orders_text(const config::Settings& s) {
  return "\norders " + s.orders_on_gap + ' ' + std::to_string(s.orders_gap_timeout_ms) + ' ' +
         std::to_string(s.orders_lane_in_flight_max);
}

TargetSet numbered(const TargetTable& table, const std::vector<std::string>& names) {
  TargetSet set;
  for (const std::string& name : names)
    if (const auto number = table.find(name)) set |= TargetSet::of(*number);
  return set;
}

}  // namespace

Topics::Topics(const config::Settings& s) {
  const auto place = [this](Role role) -> kafka::TopicIndex& { return by_role_[static_cast<std::size_t>(role)]; };
  place(Role::kRequests) = add(s.topic_requests);
  place(Role::kCommands) = add(s.topic_commands);
  place(Role::kControl) = add(s.topic_control);
  place(Role::kWork) = add(s.topic_work);
  place(Role::kDeadLetter) = add(s.topic_dead_letter);
  place(Role::kEvents) = add(s.topic_events);
  place(Role::kChangelog) = add(s.topic_changelog);
  for (const config::Target& target : s.targets) outputs_.push_back(add(target.topic));
  missing_ = s.on_missing_topic.empty() ? of(Role::kDeadLetter) : add(s.on_missing_topic);
}

kafka::TopicIndex Topics::add(const std::string& name) {
  const auto known = std::find(names_.begin(), names_.end(), name);
  if (known != names_.end()) return kafka::TopicIndex(static_cast<std::uint16_t>(known - names_.begin()));
  names_.push_back(name);
  return kafka::TopicIndex(static_cast<std::uint16_t>(names_.size() - 1));
}

kafka::TopicIndex Topics::of(Role role) const {
  RESEQ_ASSERT(role != Role::kOutput, "outputs have a topic each");
  return by_role_[static_cast<std::size_t>(role)];
}

kafka::TopicIndex Topics::output(std::size_t i) const {
  return outputs_[i];
}

Role Topics::role_of_input(kafka::TopicIndex topic) const {
  for (const Role role : kInputs)
    if (of(role) == topic) return role;
  RESEQ_ASSERT(false, "a record of a topic that is no input");
}

namespace {

// Half of the time after which retention may take a record; none: it takes none for its age.
std::optional<Milliseconds> reference_age(const kafka::TopicFacts& requests) {
  if (!requests.deletes || requests.retention_ms < 0) return std::nullopt;
  return Milliseconds(requests.retention_ms / 2);
}

// None where both are what the wire contract says: then nothing is looked for elsewhere.
std::optional<codec::InputPlaces> places_of(const config::Settings& settings) {
  codec::InputPlaces places{codec::parse_place(settings.input_id).value_or(codec::Place()),
                            codec::parse_place(settings.input_sequence)};
  if (places.id.is_key() && !places.sequence) return std::nullopt;
  return places;
}

// Where requests go to `work` at once; where they wait until there is room, that is for a strict target alone. With tap
// a pipeline reads requests itself, and its results come whatever is read here.
bool results_are_unbounded(const config::Settings& settings, bool keeps_under_way) {
  if (settings.intake != "inline") return false;
  const auto is_one = [&](const config::Target& target) {
    return target.order == "total" || (target.order == "strict" && !keeps_under_way);
  };
  return std::any_of(settings.targets.begin(), settings.targets.end(), is_one);
}

config::Settings with_topics_named(config::Settings settings) {
  config::name_topics(settings);
  return settings;
}

}  // namespace

Application::Application(config::Settings from)
    : settings(with_topics_named(std::move(from))),
      topics(settings),
      sequence_kind(codec::parse_sequence_kind(settings.sequence_kind).value_or(SequenceKind::kU64)),
      partitioner(partitioner_of(settings.partitioner)),
      dead_letter_headers(dead_letter_headers_of(settings.dead_letter_headers)),
      cloudevents(settings.profile == "cloudevents"),
      elsewhere(places_of(settings)),
      headers_max(static_cast<std::uint32_t>(std::min<std::int64_t>(settings.headers_max, INT32_MAX))),
      explicit_deletes(settings.deletes == "explicit"),
      journal(settings.dispatch_mode == "journal"),
      keeps_under_way(dispatch_of(settings).keeps_under_way()),
      held_stops_requests(results_are_unbounded(settings, keeps_under_way)),
      journal_agenda(std::make_shared<engine::Journal>(dispatch_of(settings))),
      orders_agenda(std::make_shared<engine::Orders>(first_ordered(settings) != nullptr)) {}

std::optional<std::string_view> Application::id_of_request(const kafka::Record& record) const {
  if (!elsewhere) return record.key;
  return codec::value_at(elsewhere->id, record.key, {record.headers.data(), record.headers.size()});
}

Result<TopicAnswers> Application::ask(kafka::Cluster& cluster, Milliseconds limit) {
  auto id = cluster.cluster_id(limit);
  if (!id) return id.error();
  cluster_id = id.value();
  TopicAnswers answers;
  for (std::size_t i = 0; i < topics.names().size(); ++i) {
    answers.push_back(cluster.topic_facts(kafka::TopicIndex(static_cast<std::uint16_t>(i)), limit));
    // Who waits for one of them waits for all.
    if (const auto& last = answers.back(); !last && last.error().what_to_do != ErrorClass::kInvalid)
      return last.error();
  }
  note(answers);
  return answers;
}

void Application::note(const TopicAnswers& answers) {
  const auto is_input = [this](kafka::TopicIndex topic) {
    return std::any_of(kInputs.begin(), kInputs.end(), [&](Role role) { return topics.of(role) == topic; });
  };
  record_bytes_max.assign(answers.size(), 0);
  message_bytes_largest = 0;
  message_bytes_least_written = UINT64_MAX;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i]) continue;
    const kafka::TopicIndex topic(static_cast<std::uint16_t>(i));
    const kafka::TopicFacts& facts = answers[i].value();
    const std::uint64_t bytes = facts.max_message_bytes;
    message_bytes_largest = std::max(message_bytes_largest, bytes);
    if (!is_input(topic)) message_bytes_least_written = std::min(message_bytes_least_written, bytes);
    record_bytes_max[i] = bytes - std::min(bytes, kRecordReserveBytes + bytes / kCompressionReserve);
    if (topic == topics.of(Role::kRequests)) partitions = facts.partitions;
    if (topic == topics.of(Role::kRequests)) {
      requests_compacted = facts.compacts;
      journal_agenda = std::make_shared<engine::Journal>(dispatch_of(settings), reference_age(facts));
    }
    if (topic == topics.of(Role::kChangelog)) delete_retention = Milliseconds(facts.delete_retention_ms);
  }
}

std::vector<const engine::AgendaSource*> Application::agenda() const {
  std::vector<const engine::AgendaSource*> sources;
  sources.push_back(journal_agenda.get());
  sources.push_back(orders_agenda.get());
  if (gate != nullptr) sources.push_back(gate);
  return sources;
}

const engine::AgendaKind& kind_of(const Application& application, std::uint8_t number) {
  for (const engine::AgendaSource* source : application.agenda())
    for (const engine::AgendaKind& kind : source->agenda())
      if (kind.number == number) return kind;
  RESEQ_ASSERT(false, "a kind that nobody has");
  std::abort();
}

PartitionSetting partition_setting(const Application& application, const TargetTable& table) {
  const config::Settings& settings = application.settings;
  PartitionSetting setting;
  engine::Context& context = setting.context;
  context.intake = settings.intake == "tap" ? engine::Intake::kTap : engine::Intake::kInline;
  context.requests_carry_epochs = settings.requests_carry_epochs;
  context.policies = policies_of(settings);
  context.starvation_after = Milliseconds(settings.starvation_after_ms);
  context.max_clock_drift = Milliseconds(settings.max_clock_drift_ms);
  context.registration_timeout = Milliseconds(settings.registration_timeout_ms);
  context.watermark_retention = Milliseconds(settings.watermark_retention_ms);
  context.dispatch = dispatch_of(settings);
  context.lanes.gap_timeout = Milliseconds(settings.orders_gap_timeout_ms);
  context.lanes.markers = settings.orders_on_gap == "marker";
  context.lanes.lane_in_flight_max = static_cast<std::uint32_t>(settings.orders_lane_in_flight_max);
  context.gate = application.gate;
  context.guards = application.guards;
  context.work_bytes_max = application.record_bytes_max[application.topics.of(Role::kWork).value()];

  std::vector<std::string> names(table.names().size());
  for (std::size_t i = 0; i < settings.targets.size(); ++i) {
    const config::Target& target = settings.targets[i];
    const auto number = table.find(target.name);
    RESEQ_ASSERT(number.has_value(), "a configured target without a number");
    const TargetSet one = TargetSet::of(*number);
    names[number->value()] = target.name;
    setting.outputs[number->value()] = application.topics.output(i);
    context.output_bytes_max[number->value()] = application.record_bytes_max[application.topics.output(i).value()];
    context.all_targets |= one;
    if (!target.optional) context.default_targets |= one;
    if (target.order == "monotonic") context.monotonic |= one;
    if (target.order == "strict") context.lanes.targets.strict |= one;
    if (target.order == "total") context.lanes.targets.total |= one;
    if (target.effect == "potent") context.potent |= one;
  }
  for (const config::Route& route : settings.routes)
    context.routes.push_back(
        {route.id_prefix, route.id_glob, route.header, route.header_value, numbered(table, route.targets)});
  setting.known = TargetTable(std::move(names));
  return setting;
}

namespace {

// What a target was for its first result it is for life: what is known of its documents depends on it.
Result<> check_order(const config::Target& target, TargetSet one, const OrderedTargets& ordered) {
  const std::string was = !(ordered.strict & one).empty()  ? "strict"
                          : !(ordered.total & one).empty() ? "total"
                                                           : "newest";
  if (was == (config::is_ordered(target) ? target.order : "newest")) return Done{};
  return Error{ErrorClass::kInvalid, 0,
               "target \"" + target.name + "\" is " + target.order + " in the configuration and " + was +
                   " in the state: set order = \"" + was + "\", or give the target another name"};
}

}  // namespace

const config::Target* first_ordered(const config::Settings& settings) {
  const auto first = std::find_if(settings.targets.begin(), settings.targets.end(), config::is_ordered);
  return first == settings.targets.end() ? nullptr : &*first;
}

Result<> check_orders(const Application& application, const TargetTable& table) {
  for (const config::Target& target : application.settings.targets)
    if (const auto known = table.find(target.name))
      if (auto same = check_order(target, TargetSet::of(*known), table.ordered()); !same) return same;
  return Done{};
}

Result<TargetTable> extended(const Application& application, const TargetTable& table) {
  if (auto same = check_orders(application, table); !same) return same.error();
  std::vector<std::string> names = table.names();
  OrderedTargets ordered = table.ordered();
  for (const config::Target& target : application.settings.targets) {
    if (table.find(target.name)) continue;
    names.push_back(target.name);
    if (names.size() > kMaxTargets) break;
    const TargetSet one = TargetSet::of(TargetNumber(static_cast<std::uint8_t>(names.size() - 1)));
    if (target.order == "strict") ordered.strict |= one;
    if (target.order == "total") ordered.total |= one;
  }
  if (names.size() > kMaxTargets)
    return Error{ErrorClass::kInvalid, 0,
                 "more than 64 targets were ever configured for this application: numbers are never reused; start a "
                 "new application.id"};
  return TargetTable(std::move(names), table.extensions(), ordered);
}

std::string instance_path(const config::Settings& settings) {
  return settings.state_dir + "/" + settings.application_id + "/" + settings.instance_id;
}

std::uint64_t capabilities(const Application& application) {
  std::uint64_t bits = 0;
  for (const engine::AgendaSource* source : application.agenda()) bits |= source->capability();
  return bits;
}

std::uint64_t needed_capabilities(const Application& application) {
  std::uint64_t bits = 0;
  for (const engine::AgendaSource* source : application.agenda()) bits |= source->needs();
  return bits;
}

std::uint64_t config_hash(const Application& application) {
  const config::Settings& s = application.settings;
  std::string text = s.intake + '\n' + s.on_unregistered + '\n' + s.on_unregistered_target + '\n' + s.on_missing +
                     '\n' + std::to_string(s.starvation_after_ms) + '\n' + std::to_string(s.registration_timeout_ms) +
                     '\n' + std::to_string(s.watermark_retention_ms);
  if (application.elsewhere) text += "\ninput " + s.input_id + '\n' + s.input_sequence;
  // Who changes nothing of it keeps the hash of before there was a journal.
  static const std::string usual = dispatch_text(config::Settings());
  if (const std::string dispatch = dispatch_text(s); dispatch != usual) text += dispatch;
  static const std::string no_failures = failures_text(config::Settings());
  if (const std::string failures = failures_text(s); failures != no_failures) text += failures;
  if (s.skip_unchanged) text += "\nskip_unchanged";
  static const std::string no_orders = orders_text(config::Settings());
  if (const std::string orders = orders_text(s); orders != no_orders) text += orders;
  for (const std::string& name : s.unchanged_headers) text += '\n' + name;
  for (const config::Target& target : s.targets)
    text += "\ntarget " + target.name + (target.order != "newest" ? " " + target.order : "") +
            (target.optional ? " optional" : "") + (target.effect == "potent" ? " potent" : "");
  for (const config::Route& route : s.routes) {
    text += "\nroute " + route.id_prefix + '\n' + route.id_glob + '\n' + route.header + '\n' + route.header_value;
    for (const std::string& name : route.targets) text += ' ' + name;
  }
  return codec::payload_hash(Op::kUpsert, text).value();
}

}  // namespace reseq::runtime
