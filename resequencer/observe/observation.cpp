#include "observe/observation.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/log.h"
#include "codec/hash.h"
#include "codec/sequence_text.h"
#include "kafka/librdkafka_cluster.h"
#include "kafka/settings.h"
#include "runtime/application/clients.h"
#include "runtime/application/clock.h"
#include "runtime/application/wiring.h"
#include "store/state_folder.h"

namespace reseq::observe {

namespace {

constexpr int kWaitsMax = 3;  // of kafka::kBrokerAnswerLimit each
constexpr std::size_t kStepRecords = 1'000;

UnixMs now() {
  return runtime::SystemClock().now();
}

Result<Place> place_of(const std::string& text, const std::string& otherwise) {
  const auto place = parse_place(text.empty() ? otherwise : text);
  if (!place) return Error{ErrorClass::kInvalid, 0, "\"" + text + "\" is no place: key or header:NAME"};
  return *place;
}

// Empty for operations of a partition, and where a record has none.
DocumentId id_of(const Command& command) {
  if (const auto* request = std::get_if<Request>(&command)) return request->what.id;
  if (const auto* registered = std::get_if<Register>(&command)) return registered->what.id;
  if (const auto* unregister = std::get_if<Unregister>(&command)) return unregister->id;
  if (const auto* result = std::get_if<SequenceResult>(&command)) return result->id;
  if (const auto* refused = std::get_if<Refused>(&command)) return refused->id;
  return {};
}

// A delete is compared like any other change: what it means for older results follows from its order, and a barrier
// would make counts depend on when it was read. A stamp is the time of a record here, nothing else.
void make_comparable(Command& command) {
  if (auto* request = std::get_if<Request>(&command)) request->what.op = Op::kUpsert;
  if (auto* registered = std::get_if<Register>(&command)) registered->what.op = Op::kUpsert;
  if (auto* result = std::get_if<SequenceResult>(&command)) result->observed.reset();
}

codec::InputRecord record_of(const Taken& taken, Role role, Partition partition) {
  const kafka::Record& record = taken.record;
  return {role,
          partition,
          record.offset,
          taken.timestamp,
          record.key,
          record.payload,
          {record.headers.data(), record.headers.size()},
          {}};
}

}  // namespace

std::string observer_path(const config::Settings& settings) {
  return runtime::instance_path(settings) + ".observe";
}

Result<std::unique_ptr<Observation>> Observation::open(config::Settings settings, bool anew) {
  std::unique_ptr<Observation> made(new Observation(std::move(settings)));
  if (auto looked = made->look_at_topics(); !looked) return looked.error();
  if (auto opened = made->open_folder(anew); !opened) return opened.error();
  if (auto opened = made->open_log(); !opened) return opened.error();
  return made;
}

Result<> Observation::look_at_topics() {
  const config::Settings& s = settings();
  auto cluster = kafka::open_cluster(runtime::cluster_settings_of(application_, std::nullopt));
  if (!cluster) return cluster.error();
  const auto id = cluster.value()->cluster_id(kafka::kBrokerAnswerLimit);
  if (!id) return runtime::with_fix(id.error(), s);
  application_.cluster_id = id.value();
  auto admin = kafka::Admin::open(runtime::connection_of(s));
  if (!admin) return admin.error();
  admin_ = std::move(admin).value();
  input_.name = s.observe_input_topic;
  output_.name = s.observe_output_topic;
  for (TopicSeen* topic : {&input_, &output_}) {
    const auto count = admin_->partition_count(topic->name, kafka::kBrokerAnswerLimit);
    if (!count)
      return Error{count.error().what_to_do, count.error().code,
                   count.error().message + ": an observer creates nothing"};
    topic->partitions = count.value();
    if (const auto facts = admin_->topic_facts(topic->name, kafka::kBrokerAnswerLimit)) topic->facts = facts.value();
  }

  application_.partitions = input_.partitions;
  application_.record_bytes_max.assign(application_.topics.names().size(), UINT64_MAX);
  auto table = runtime::extended(application_, TargetTable());
  if (!table) return table.error();
  targets_ = std::move(table).value();
  context_ = runtime::partition_setting(application_, targets_).context;
  if (s.observe_sequence.empty()) return Done{};
  context_.intake = engine::Intake::kTap;
  const auto id_in = place_of(s.observe_id, "key");
  const auto id_out = place_of(s.observe_output_id, s.observe_id);
  const auto sequence_in = place_of(s.observe_sequence, "");
  const auto sequence_out = place_of(s.observe_output_sequence, s.observe_sequence);
  for (const auto* place : {&id_in, &id_out, &sequence_in, &sequence_out})
    if (!*place) return place->error();
  input_places_ = Places{id_in.value(), sequence_in.value(), std::nullopt};
  output_places_ = Places{id_out.value(), sequence_out.value(), parse_place(s.observe_target)};
  if (!output_places_->target && targets_.names().size() != 1)
    return Error{ErrorClass::kInvalid, 0, "with several targets observe.target has to say where a record has its own"};
  return Done{};
}

Result<> Observation::open_folder(bool anew) {
  auto folder = store::InstanceFolder::open(observer_path(settings()),
                                            {settings().application_id + ".observe", application_.cluster_id});
  if (!folder) return folder.error();
  folder_ = std::move(folder).value();
  return open_ledger(anew);
}

// What cannot be trusted or read is begun anew, and said so; what belongs to another pipeline is refused.
Result<> Observation::open_ledger(bool anew) {
  using Copy = store::StateFolder::Copy;
  const std::string path = observer_path(settings()) + "/state";
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto state = store::StateFolder::open(path, store::boot_id());
    if (!state) return state.error();
    const Copy found = state.value()->found();
    const bool doubtful = found == Copy::kOtherBoot || found == Copy::kPoisoned;
    if (doubtful)
      spdlog::warn("observe=anew what was counted before is not to be trusted copy={}", store::name_of(found));
    if (anew || doubtful)
      if (auto wiped = state.value()->wipe(); !wiped) return wiped;
    auto store = store::PartitionStore::open(std::move(state).value(), {});
    auto ledger = store ? Ledger::open(std::move(store).value(), context_, targets_, application_.sequence_kind,
                                       !settings().observe_wrong_file.empty())
                        : Result<std::unique_ptr<Ledger>>(store.error());
    if (ledger) {
      ledger_ = std::move(ledger).value();
      break;
    }
    if (ledger.error().what_to_do != ErrorClass::kInvalid || attempt == 1) return ledger.error();
    spdlog::warn("observe=anew what was counted before cannot be read error={}", log::outside(ledger.error().message));
    anew = true;
  }
  began_ = now();
  const Json& note = ledger_->note();
  if (note.is_null()) return Done{};
  if (note.value("layout", "") != layout())
    return Error{ErrorClass::kInvalid, 0,
                 observer_path(settings()) + " holds what was observed of another pipeline, or in another way (" +
                     note.value("layout", "") + "): give --anew to forget it, or another --state-dir"};
  began_ = UnixMs(note.value("began", began_.value()));
  lost_ = note.value("lost", std::uint64_t{0});
  return Done{};
}

// What must not change while counts go on.
std::string Observation::layout() const {
  const config::Settings& s = settings();
  std::string text = s.observe_input_topic + " to " + s.observe_output_topic + ", id " + s.observe_id + "/" +
                     s.observe_output_id + ", sequence " + s.sequence_kind + " " + s.observe_sequence + "/" +
                     s.observe_output_sequence + ", target " + s.observe_target;
  for (const std::string& name : targets_.names()) text += " " + name;
  if (!s.observe_wrong_file.empty()) text += ", wrong documents noted";
  return text;
}

Result<std::vector<kafka::PlainOffset>> Observation::starts(const std::string& topic) {
  const std::string& from = settings().observe_from;
  if (from == "end") return admin_->stable_ends(topic, kafka::kBrokerAnswerLimit);
  const auto ago = config::parse_duration_ms(from);
  if (!ago) return admin_->begins(topic, kafka::kBrokerAnswerLimit);
  return kafka::offsets_at(runtime::connection_of(settings()), topic, UnixMs(now().value() - *ago),
                           kafka::kBrokerAnswerLimit);
}

Result<> Observation::open_log() {
  std::map<std::pair<std::string, std::int32_t>, std::int64_t> stood;
  const Json& note = ledger_->note();
  if (!note.is_null())
    for (const Json& one : note.value("positions", Json::array()))
      stood[{one.at(0).get<std::string>(), one.at(1).get<std::int32_t>()}] = one.at(2).get<std::int64_t>();
  std::vector<kafka::PlainOffset> from;
  // Of the input first: with `end`, a request between the two questions is read, its result as well.
  for (const Role role : {Role::kRequests, Role::kCommands}) {
    const std::string& topic = role == Role::kRequests ? input_.name : output_.name;
    auto first = admin_->begins(topic, kafka::kBrokerAnswerLimit);
    auto wanted = first && stood.empty() ? starts(topic) : first;
    if (!first || !wanted) return first ? wanted.error() : first.error();
    for (std::size_t p = 0; p < wanted.value().size(); ++p) {
      kafka::PlainOffset& one = wanted.value()[p];
      const Offset begin = first.value()[p].offset;
      const auto known = stood.find({topic, one.partition.value()});
      if (known != stood.end()) one.offset = Offset(known->second);
      if (one.offset < begin) {
        lost_ += static_cast<std::uint64_t>(begin.value() - one.offset.value());
        one.offset = begin;
      }
      streams_.push_back({role, one.partition, one.offset});
      from.push_back(one);
    }
  }
  auto bystander = kafka::Bystander::open(runtime::connection_of(settings()), from);
  if (!bystander) return bystander.error();
  bystander_ = std::move(bystander).value();
  log_ = std::make_unique<MergedLog>(*bystander_, streams_);
  spdlog::info("observe={} input={} output={} partitions={}", stood.empty() ? "begins" : "goes_on",
               log::outside(input_.name), log::outside(output_.name), from.size());
  return Done{};
}

Result<bool> Observation::begin_round() {
  std::map<std::pair<Role, Partition>, Offset> ends;
  for (const Role role : {Role::kCommands, Role::kRequests}) {
    const auto asked =
        admin_->stable_ends(role == Role::kRequests ? input_.name : output_.name, kafka::kBrokerAnswerLimit);
    if (!asked) return asked.error();
    for (const kafka::PlainOffset& one : asked.value()) ends[{role, one.partition}] = one.offset;
  }
  std::vector<Offset> of_streams;
  for (const Stream& stream : streams_) of_streams.push_back(ends[{stream.role, stream.partition}]);
  log_->read_to(of_streams);
  return log_->left(Role::kRequests) + log_->left(Role::kCommands) > 0;
}

Result<bool> Observation::step(Milliseconds limit) {
  for (std::size_t i = 0; i < kStepRecords; ++i) {
    if (ledger_->fault()) return *ledger_->fault();
    Taken taken;
    const auto state = log_->take(std::nullopt, limit, taken);
    if (!state) return state.error();
    if (state.value() == MergedLog::State::kRoundOver) return false;
    if (state.value() == MergedLog::State::kWaiting) return true;
    if (streams_[taken.stream].role == Role::kRequests)
      take_request(taken);
    else if (auto done = take_result(taken); !done)
      return done;
  }
  return true;
}

Command Observation::decode(codec::InputRecord& record) const {
  const auto& places = record.role == Role::kRequests ? input_places_ : output_places_;
  if (places) return observe::decode(record, *places, application_.sequence_kind, targets_);
  codec::DecodeContext context =
      runtime::decoding(application_, targets_, context_.intake == engine::Intake::kTap, arena_);
  context.partitioner = Partitioner::kUnchecked;
  if (record.role == Role::kRequests) arena_.reset();
  Command command = codec::decode(record, context);
  make_comparable(command);
  return command;
}

void Observation::take_request(const Taken& taken) {
  const Stream& stream = streams_[taken.stream];
  codec::InputRecord record = record_of(taken, Role::kRequests, stream.partition);
  const Command command = decode(record);
  note_record(record, id_of(command), taken);
  ledger_->request(command, {stream.partition, record.offset, record.timestamp});
}

// At a miss requests that may stand before it are read first: those that are no younger, by clocks that differ.
Result<bool> Observation::take_result(Taken& taken) {
  const Stream& stream = streams_[taken.stream];
  codec::InputRecord record = record_of(taken, Role::kCommands, stream.partition);
  const Command command = decode(record);
  const Ledger::Source source{stream.partition, record.offset, record.timestamp};
  note_record(record, id_of(command), taken);
  if (ledger_->result(command, source, false)) return true;
  const UnixMs until(taken.timestamp.value() + settings().max_clock_drift_ms);
  for (int waited = 0; waited < kWaitsMax;) {
    Taken request;
    const auto state = log_->take(until, kafka::kBrokerAnswerLimit, request);
    if (!state) return state.error();
    if (state.value() == MergedLog::State::kRoundOver) break;
    if (state.value() == MergedLog::State::kTaken) take_request(request);
    // Nothing of this is saved yet: the next start begins before it.
    if (state.value() == MergedLog::State::kWaiting && ++waited == kWaitsMax)
      return Error{ErrorClass::kTimeout, 0, input_.name + " cannot be read on: no broker answers"};
  }
  (void)ledger_->result(command, source, true);
  return true;
}

void Observation::note_record(const codec::InputRecord& record, DocumentId id, const Taken& taken) {
  Tally& tally = ledger_->tally();
  const bool request = record.role == Role::kRequests;
  if (!taken.timed) ++tally.without_timestamp;
  if (taken.timed && (tally.first.value() == 0 || record.timestamp < tally.first)) tally.first = record.timestamp;
  if (taken.timed) tally.last = std::max(tally.last, record.timestamp);
  if (id.empty()) return;
  Routing& routing = request ? tally.input_routing : tally.output_routing;
  const std::int32_t partitions = request ? input_.partitions : output_.partitions;
  ++routing.with_id;
  routing.keyed_by_id += record.key == id ? 1U : 0U;
  const auto fits = [&](Partitioner partitioner) {
    return codec::partition_of(id, partitioner, partitions) == record.partition ? 1U : 0U;
  };
  routing.murmur2 += fits(Partitioner::kMurmur2);
  routing.crc32 += fits(Partitioner::kCrc32);
}

Json Observation::note() const {
  Json positions = Json::array();
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::string& topic = streams_[i].role == Role::kRequests ? input_.name : output_.name;
    positions.push_back({topic, streams_[i].partition.value(), log_->position(i).value()});
  }
  return {{"layout", layout()}, {"began", began_.value()}, {"lost", lost_}, {"positions", std::move(positions)}};
}

Result<> Observation::save() {
  return ledger_->save(note());
}

bool Observation::save_due() const {
  return ledger_->save_due(static_cast<std::size_t>(settings().checkpoint_rows_max));
}

Result<WrongCounts> Observation::tell_wrong_now(const WrongLine& line) const {
  const WrongCounts counts = ledger_->tell_wrong_now(line);
  if (ledger_->fault()) return *ledger_->fault();
  return counts;
}

Result<> Observation::close() {
  if (auto saved = save(); !saved) return saved;
  return ledger_->close();
}

Seen Observation::seen(bool running) const {
  Seen seen;
  seen.tally = ledger_->tally();
  seen.input = input_;
  seen.output = output_;
  seen.input.left = log_->left(Role::kRequests);
  seen.output.left = log_->left(Role::kCommands);
  seen.waiting = ledger_->waiting();
  seen.answered = ledger_->answered();
  seen.lost = lost_;
  seen.running = running;
  seen.began = began_;
  seen.written = now();
  return seen;
}

}  // namespace reseq::observe
