#include "tests/judge/replay.h"

#include <algorithm>
#include <map>
#include <utility>

#include "changelog/batch_rows.h"
#include "codec/keys.h"
#include "codec/row_kinds.h"
#include "codec/rows.h"
#include "runtime/application/wiring.h"
#include "tests/gate/keyed_rows.h"
#include "tests/support/changelog_rows.h"

namespace reseq::judge {

namespace {

// As a reader of the topic gets it.
Record sent(const codec::OutputRecord& record, std::span<const Header> input_headers, UnixMs now) {
  Record sent;
  sent.timestamp = now;
  sent.key = record.key;
  sent.payload = record.payload;
  const std::span<const Header> from = record.takes_input_headers ? input_headers : record.headers;
  sent.headers.assign(from.begin(), from.end());
  for (const HeaderEdit& edit : record.edits) {
    const auto removed = std::remove_if(sent.headers.begin(), sent.headers.end(),
                                        [&](const Header& one) { return one.name == edit.name; });
    sent.headers.erase(removed, sent.headers.end());
    if (edit.value) sent.headers.push_back({edit.name, edit.value});
  }
  return sent;
}

// All that was referred to was read, but for what the meta row says.
class AsMetaSays final : public engine::References {
 public:
  explicit AsMetaSays(const Meta& meta) : meta_(meta) {}
  [[nodiscard]] Found find(const codec::HeldRow& held) override {
    if (std::binary_search(meta_.gone.begin(), meta_.gone.end(), held.offset)) return Found::kGone;
    const bool unreadable = std::binary_search(meta_.unreadable.begin(), meta_.unreadable.end(), held.offset);
    return unreadable ? Found::kUnreadable : Found::kRead;
  }

 private:
  const Meta& meta_;
};

}  // namespace

// The state of the replay: rows by key, as the changelog orders them.
struct Replay::Rows final : gate::WithOthers<> {
  struct Known {
    std::string id;
    Row row;
  };
  [[nodiscard]] engine::Lookup find(DocumentId id) const override {
    std::string key;
    codec::append_document_key(id, *hash, key);
    const auto known = by_key.find(key);
    if (known == by_key.end()) return {};
    return {known->second.row, known->second.id != id};
  }
  void apply(std::span<const RowChange> changes) {
    for (const RowChange& change : changes) {
      std::string key;
      codec::append_document_key(change.id, *hash, key);
      if (change.row != nullptr) {
        by_key.insert_or_assign(key, Known{std::string(change.id), *change.row});
      } else {
        by_key.erase(key);
      }
      journaled.put(change.id, change.row, *hash);
    }
  }
  const codec::KeyedHash* hash = nullptr;
  std::map<std::string, Known, std::less<>> by_key;  // documents
};

struct Replay::LoggedBatch {
  std::vector<store::Change> rows;  // without the meta row
  Meta meta;
  Offset first = kNoOffset;
  Offset at;
  bool birth = false;
};

Replay::Replay(const runtime::Application& application, const History& history, Partition partition, Produced& produced,
               Verdict& verdict)
    : application_(application),
      history_(history),
      partition_(partition),
      produced_(produced),
      verdict_(verdict),
      rows_(std::make_unique<Rows>()) {}

Replay::~Replay() = default;

void Replay::broken(const std::string& what) {
  verdict_.add(Check::kChangelog, "partition " + std::to_string(partition_.value()) + ": " + what);
}

void Replay::differs(Offset at, const std::string& what) {
  verdict_.add(Check::kReplay, "partition " + std::to_string(partition_.value()) + ": the batch with the meta row at " +
                                   std::to_string(at.value()) +
                                   ", decided again, differs from what was committed: " + what);
}

void Replay::run(const Visit& visit) {
  const History::Log& log = history_.log({application_.topics.of(Role::kChangelog).value(), partition_});
  if (application_.keeps_under_way) read_overdue();
  LoggedBatch open;
  bool born = false;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const Record record = log[i];
    if (!record.key) return broken("a record without a key in the changelog: " + describe(record));
    if (open.first == kNoOffset) open.first = record.offset;
    if (*record.key != codec::meta_key()) {
      open.birth = open.birth || *record.key == codec::identity_key();
      open.rows.push_back({*record.key, record.payload});
      continue;
    }
    if (!read_meta(record, open)) return;
    if (open.birth == born) return broken(born ? "born twice" : "never born");
    born = true;
    ReplayedBatch replayed;
    replayed.first = open.first;
    replayed.at = open.at;
    replayed.birth = open.birth;
    replayed.meta = open.meta;
    for (const Breaker& before : state_.breakers)
      for (const Breaker& now : open.meta.state.breakers)
        if (before.open && now.open && before.target == now.target && before.changed_behind == now.changed_behind)
          replayed.down.push_back(targets_.name(now.target));
    if (open.birth && !give_birth(open)) return;
    if (!open.birth) decide(open, replayed);
    visit(replayed);
    open = {};
  }
  if (!open.rows.empty()) return broken("rows without a meta row behind them");
  if (!born) broken("never born");
}

void Replay::read_overdue() {
  const History::Log& log = history_.log({application_.topics.of(Role::kEvents).value(), partition_});
  for (std::size_t i = 0; i < log.size(); ++i) {
    const Record event = log[i];
    if (event.key && event.payload && event.payload->find("\"kind\":\"overdue\"") != std::string_view::npos)
      told_overdue_.emplace(*event.key, event.timestamp);
  }
}

bool Replay::read_meta(const Record& record, LoggedBatch& batch) {
  auto meta = codec::decode_meta(*record.key, record.payload.value_or(""));
  if (const auto* error = std::get_if<codec::RowError>(&meta)) {
    broken("the meta row at " + std::to_string(record.offset.value()) + " is " + std::string(name_of(*error)));
    return false;
  }
  batch.meta = std::move(std::get<Meta>(meta));
  batch.at = record.offset;
  return true;
}

bool Replay::give_birth(const LoggedBatch& birth) {
  bool has_targets = false;
  for (const store::Change& row : birth.rows) {
    const std::string_view value = row.value.value_or("");
    const auto identity = codec::decode_identity(row.key, value);
    if (const auto* pinned = std::get_if<Identity>(&identity); pinned != nullptr && row.key == codec::identity_key())
      hash_ = std::make_unique<codec::KeyedHash>(pinned->hash_key);
    auto table = codec::decode_targets(row.key, value);
    if (auto* targets = std::get_if<TargetTable>(&table); targets != nullptr && row.key == codec::target_table_key()) {
      targets_ = std::move(*targets);
      has_targets = true;
    }
  }
  if (!hash_ || !has_targets) {
    broken("born without an identity or a target table");
    return false;
  }
  rows_->hash = hash_.get();
  setting_ = std::make_unique<runtime::PartitionSetting>(runtime::partition_setting(application_, targets_));
  state_ = birth.meta.state;
  return true;
}

void Replay::decide(const LoggedBatch& logged, ReplayedBatch& replayed) {
  engine::Context context = setting_->context;
  context.now = logged.meta.now;
  context.partition = partition_;
  Arena arena;
  driver::BatchDriver driver(*rows_, state_, context);
  std::vector<codec::InputRecord> inputs;
  if (!decide_inputs(logged.meta, driver, inputs, replayed, arena)) {
    differs(logged.at, "an input was not decided");
    return take_over(logged);
  }
  const std::vector<std::string> overdue = became_overdue(logged, replayed);
  const std::vector<std::string> expired = swept(logged.meta);
  std::vector<driver::GateTurn> turns;
  for (const AgendaDone& done : logged.meta.agenda) turns.push_back({done.kind, done.until, done.rows});
  AsMetaSays references(logged.meta);
  driver.close({.overdue = overdue, .turns = turns, .expired = expired, .references = &references});
  const engine::Batch& batch = driver.batch();
  if (!read_held(batch, inputs, replayed, arena)) {
    differs(logged.at, "what is held by reference is no record of requests");
    return take_over(logged);
  }
  for (std::size_t i = 0; i < replayed.inputs.size(); ++i) replayed.inputs[i].decision = batch.decisions()[i];
  for (const RowChange& change : batch.changes())
    if (change.row == nullptr) replayed.expired.emplace_back(change.id);
  note_journal(batch, replayed);
  for (const Emission& emission : batch.emissions())
    produce(emission, emission.input == kNoInput ? nullptr : &inputs[emission.input.value()], replayed);
  for (const Event& event : batch.events())
    produce(event, event.input == kNoInput ? nullptr : &inputs[event.input.value()], replayed);
  replayed.done = driver.agenda_done();
  const std::vector<store::Change> rows = rows_of(batch, inputs, arena);
  std::string what = compare(logged, rows, batch.state());
  if (what.empty() && replayed.done != logged.meta.agenda) what = "what was done of the agenda";
  if (!what.empty()) {
    differs(logged.at, what);
    return take_over(logged);
  }
  rows_->apply(batch.changes());
  for (const store::Change& change : rows)
    if (codec::row_kind_of(change.key)->type != codec::KeyType::kDocument) rows_->others.put(change.key, change.value);
  state_ = batch.state();
}

// What was held and is let through stands behind the inputs. False: a reference to nothing.
bool Replay::read_held(const engine::Batch& batch, std::vector<codec::InputRecord>& records, ReplayedBatch& replayed,
                       Arena& arena) const {
  const runtime::FindAgain again = [&](Offset offset) -> std::optional<codec::InputRecord> {
    const History::Log& log = history_.log({application_.topics.of(Role::kRequests).value(), partition_});
    const std::size_t place = log.at_or_behind(offset);
    if (place == log.size() || log.offset(place) != offset) return std::nullopt;
    const Record record = log[place];
    ++replayed.read_again;
    return codec::InputRecord{Role::kRequests,
                              partition_,
                              offset,
                              record.timestamp,
                              record.key,
                              record.payload,
                              arena.copy(std::span<const Header>(record.headers.data(), record.headers.size())),
                              {}};
  };
  const codec::FindRow row = [this](std::string_view key) { return rows_->others.row(key); };
  const codec::DecodeContext decoding = runtime::decoding(application_, *setting_, arena, *hash_, waits());
  for (const LetThrough& held : batch.let_through())
    if (auto record = runtime::record_of(held, row, again, decoding, arena)) {
      records.push_back(*record);
      records.back().partition = partition_;
    }
  return records.size() == batch.decisions().size() + batch.let_through().size();
}

bool Replay::waits() const {
  return !rows_->journaled.rows().all().empty();
}

bool Replay::decide_inputs(const Meta& meta, driver::BatchDriver& driver, std::vector<codec::InputRecord>& inputs,
                           ReplayedBatch& replayed, Arena& arena) {
  for (const InputRange& range : meta.ranges) {
    const History::Log& log = history_.log({application_.topics.of(range.role).value(), partition_});
    for (std::size_t i = log.at_or_behind(range.first); i < log.size() && log.offset(i) < range.end; ++i)
      replayed.inputs.push_back({range.role, log[i], {}});
  }
  const codec::DecodeContext decoding = runtime::decoding(application_, *setting_, arena, *hash_, waits());
  inputs.reserve(replayed.inputs.size());
  for (const Decided& one : replayed.inputs) {
    inputs.push_back({one.role,
                      partition_,
                      one.record.offset,
                      one.record.timestamp,
                      one.record.key,
                      one.record.payload,
                      {one.record.headers.data(), one.record.headers.size()},
                      {}});
    if (!driver.takes(one.role) || driver.decide(inputs.back(), decoding, true) != engine::Taken::kDecided)
      return false;
  }
  return true;
}

// Which timers fired is not in the meta row: the rows say it. A journal may begin another wait behind them, in the same
// batch: then only the event is left. Each is of one batch: a clock that stepped back comes to the same time again.
std::vector<std::string> Replay::became_overdue(const LoggedBatch& logged, ReplayedBatch& replayed) {
  std::vector<std::string> ids;
  for (const store::Change& change : logged.rows) {
    const auto known = rows_->by_key.find(change.key);
    if (known == rows_->by_key.end() || !change.value || known->second.row.overdue) continue;
    const auto row = codec::decode_row(change.key, *change.value);
    const auto* document = std::get_if<codec::DocumentRow>(&row);
    if (document == nullptr) continue;
    const auto told = told_overdue_.find({known->second.id, logged.meta.now});
    const bool waits_anew = told != told_overdue_.end() && document->row.deadline != known->second.row.deadline;
    if (!document->row.overdue && !waits_anew) continue;
    if (told != told_overdue_.end()) told_overdue_.erase(told);
    ids.push_back(known->second.id);
    replayed.fired.push_back({known->second.id, known->second.row.deadline});
  }
  return ids;
}

std::vector<std::string> Replay::swept(const Meta& meta) const {
  std::vector<std::string> ids;
  if (meta.swept_from.empty()) return ids;
  for (auto one = rows_->by_key.lower_bound(meta.swept_from); one != rows_->by_key.end() && one->first < meta.swept_to;
       ++one) {
    const Row& row = one->second.row;
    if (!row.live() && row.deadline != UnixMs() && row.deadline <= meta.now) ids.push_back(one->second.id);
  }
  return ids;
}

std::vector<store::Change> Replay::rows_of(const engine::Batch& batch, std::span<const codec::InputRecord> records,
                                           Arena& arena) const {
  std::vector<store::Change> rows;
  test::append_rows(batch.changes(), *hash_, arena, rows);
  changelog::append_rows(batch.holds(), records, *hash_, arena, rows);
  changelog::append_rows(batch.row_changes(), rows);
  return rows;
}

std::string Replay::compare(const LoggedBatch& logged, const std::vector<store::Change>& rows,
                            const PartitionState& after) const {
  const auto [again, committed] =
      std::mismatch(rows.begin(), rows.end(), logged.rows.begin(), logged.rows.end(),
                    [](const auto& a, const auto& b) { return a.key == b.key && a.value == b.value; });
  const auto named = [](const store::Change& row) {
    Record record;
    record.key = row.key;
    record.payload = row.value;
    return describe(record);
  };
  if (again != rows.end() || committed != logged.rows.end())
    return "row " + std::to_string(again - rows.begin()) + " is " +
           (committed == logged.rows.end() ? "missing" : named(*committed)) + " instead of " +
           (again == rows.end() ? "none" : named(*again));
  if (after != logged.meta.state) return "clock, last version or default epoch";
  return {};
}

void Replay::take_over(const LoggedBatch& logged) {
  for (const store::Change& change : logged.rows) {
    const codec::RowKind* const kind = codec::row_kind_of(change.key);
    if (kind == nullptr || kind->type != codec::KeyType::kDocument) {
      if (kind != nullptr && kind->removable) rows_->others.put(change.key, change.value);
      continue;
    }
    if (!change.value) {
      const auto known = rows_->by_key.find(change.key);
      if (known == rows_->by_key.end()) continue;
      rows_->journaled.put(known->second.id, nullptr, *hash_);
      rows_->by_key.erase(known);
      continue;
    }
    auto decoded = codec::decode_row(change.key, *change.value);
    if (auto* document = std::get_if<codec::DocumentRow>(&decoded)) {
      rows_->journaled.put(document->id, &document->row, *hash_);
      rows_->by_key.insert_or_assign(std::string(change.key),
                                     Rows::Known{std::move(document->id), std::move(document->row)});
    }
  }
  state_ = logged.meta.state;
}

Source Replay::source_of(const codec::InputRecord* input, const ReplayedBatch& replayed) const {
  const runtime::Topics& topics = application_.topics;
  if (input == nullptr) return {{topics.of(Role::kChangelog).value(), partition_}, replayed.at};
  return {{topics.of(input->role).value(), partition_}, input->offset};
}

void Replay::produce(const Emission& emission, const codec::InputRecord* input, ReplayedBatch& replayed) {
  Arena arena;
  const runtime::Outgoing out = runtime::outgoing(application_, *setting_, targets_, emission, input, arena);
  const std::span<const Header> headers = input == nullptr ? std::span<const Header>() : input->headers;
  produced_.add(out.topic.value(), sent(out.record, headers, replayed.meta.now), source_of(input, replayed));
  if (input != nullptr) note_left(emission, *input, replayed);
  const auto* release = std::get_if<Release>(&emission.what);
  if (release == nullptr) return;
  // What was held lives as long as its batch is decided.
  const bool was_held = emission.input.value() >= replayed.inputs.size();
  const auto kept = [&](std::string_view text) {
    return was_held ? std::string_view(replayed.held.emplace_back(text)) : text;
  };
  const auto payload = input->payload ? std::optional(kept(*input->payload)) : std::nullopt;
  replayed.releases.push_back({.id = kept(*input->key),
                               .target = targets_.name(release->target),
                               .epoch = release->order.epoch.value(),
                               .sequence = release->order.sequence.number().value_or(0),
                               .revision = release->order.revision.value(),
                               .payload = payload});
}

std::vector<std::string> Replay::names_of(TargetSet targets) const {
  std::vector<std::string> names;
  for (const TargetNumber target : targets) names.push_back(targets_.name(target));
  return names;
}

void Replay::note_left(const Emission& emission, const codec::InputRecord& input, ReplayedBatch& replayed) const {
  const std::string id(input.key.value_or(""));
  if (const auto* forward = std::get_if<Forward>(&emission.what)) {
    Dispatched& left = replayed.dispatched.emplace_back();
    left.id = id;
    left.order = forward->order;
    left.attempt = forward->attempt();
    left.request = input.offset;
    left.targets = names_of(forward->targets);
  }
  const auto* letter = std::get_if<DeadLetter>(&emission.what);
  const bool failed =
      letter != nullptr && (letter->reason == Reason::kFailed || letter->reason == Reason::kEffectUnknown);
  if (letter != nullptr && (failed || emission.input.value() >= replayed.inputs.size())) {
    const GivenUp none;
    const reseq::GivenUp* const said = letter->given_up;
    replayed.given_up.push_back(
        {id, input.offset, letter->reason, said == nullptr ? none.targets : names_of(said->targets)});
  }
  if (const auto* marker = std::get_if<Marker>(&emission.what))
    replayed.marked.push_back({id, input.offset, targets_.name(marker->target), marker->what->reason});
}

// REQUIRES: rows are those before the batch.
void Replay::note_journal(const engine::Batch& batch, ReplayedBatch& replayed) const {
  const auto entries = [](const RareList<JournalEntry>& journal) {
    return std::vector<JournalEntry>(journal.begin(), journal.end());
  };
  for (const RowChange& change : batch.changes()) {
    const auto known = rows_->find(change.id);
    Journaled one;
    one.id = change.id;
    if (known.row && !known.collision) one.before = entries(known.row->journal);
    if (change.row != nullptr) one.after = entries(change.row->journal);
    for (const JournalEntry& entry : one.after) {
      if (entry.state != EntryState::kGone) continue;
      TargetSet gone = entry.targets;
      for (const JournalEntry& before : one.before)
        if (before.state == EntryState::kGone && before.order == entry.order) gone = gone.without(before.targets);
      if (!gone.empty()) replayed.gone.push_back({one.id, entry.order, names_of(gone)});
    }
    if (!one.before.empty() || !one.after.empty()) replayed.journaled.push_back(std::move(one));
  }
}

void Replay::produce(const Event& event, const codec::InputRecord* input, const ReplayedBatch& replayed) {
  Arena arena;
  const runtime::Outgoing out = runtime::outgoing(application_, targets_, event, input, arena);
  produced_.add(out.topic.value(), sent(out.record, {}, replayed.meta.now), source_of(input, replayed));
}

}  // namespace reseq::judge
