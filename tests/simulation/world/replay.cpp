#include "tests/simulation/world/replay.h"

#include <algorithm>
#include <utility>

#include "changelog/batch_rows.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "engine/batch.h"

namespace reseq::simulation {

namespace {

struct Source {
  const Kept* kept;
  Role role;
  std::vector<Header> headers;
};

std::optional<std::string_view> view(const std::optional<std::string>& bytes) {
  if (!bytes) return std::nullopt;
  return std::string_view(*bytes);
}

std::uint64_t number_of(const Sequence& sequence) {
  std::uint64_t number = 0;
  for (const char byte : sequence.bytes()) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

void append_part(std::string& out, const std::optional<std::string_view>& part) {
  out += part ? std::to_string(part->size()) + ":" : "-:";
  if (part) out += *part;
}

std::string produced_record(const codec::OutputRecord& record, std::span<const Header> input_headers, UnixMs now) {
  StoredRecord stored;
  if (record.key) stored.key = *record.key;
  if (record.payload) stored.payload = *record.payload;
  stored.timestamp = now;
  const auto owned = [](const std::optional<std::string_view>& value) {
    return value ? std::optional<std::string>(*value) : std::nullopt;
  };
  if (record.takes_input_headers)
    for (const Header& one : input_headers) stored.headers.push_back({std::string(one.name), owned(one.value)});
  for (const HeaderEdit& edit : record.edits) {
    std::erase_if(stored.headers, [&](const StoredHeader& one) { return one.name == edit.name; });
    if (edit.value) stored.headers.push_back({std::string(edit.name), owned(edit.value)});
  }
  return comparable(stored);
}

}  // namespace

std::string comparable(const StoredRecord& record) {
  std::string out = std::to_string(record.timestamp.value()) + "|";
  append_part(out, view(record.key));
  append_part(out, view(record.payload));
  for (const StoredHeader& header : record.headers) {
    out += "|" + header.name + "=";
    append_part(out, view(header.value));
  }
  return out;
}

// The state of the replay: rows by key, as the changelog orders them.
struct Replay::Rows final : engine::StateView {
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
      if (change.row) {
        by_key.insert_or_assign(key, Known{std::string(change.id), *change.row});
      } else {
        by_key.erase(key);
      }
    }
  }
  const codec::KeyedHash* hash = nullptr;
  std::map<std::string, Known, std::less<>> by_key;
};

struct Replay::LoggedBatch {
  std::vector<store::Change> rows;  // without the meta row
  Meta meta;
  bool birth = false;
};

Replay::Replay(const runtime::Application& application, const History& history, Partition partition)
    : application_(application), history_(history), partition_(partition), rows_(std::make_unique<Rows>()) {}

Replay::~Replay() = default;

void Replay::differ(const std::string& what) {
  if (difference_.empty())
    difference_ = "partition " + std::to_string(partition_.value()) + ", batch " + std::to_string(batches_.size()) +
                  " decided again differs from what was committed: " + what;
}

bool Replay::read_changelog(std::vector<LoggedBatch>& logged) {
  const Place place{application_.topics.of(Role::kChangelog).value(), partition_};
  LoggedBatch open;
  for (const Kept& kept : history_.log(place)) {
    const std::string& key = *kept.record->key;
    if (key != codec::meta_key()) {
      open.birth = open.birth || key == codec::identity_key();
      open.rows.push_back({key, view(kept.record->payload)});
      continue;
    }
    auto meta = codec::decode_meta(key, kept.record->payload.value_or(""));
    if (std::holds_alternative<codec::RowError>(meta)) broken_ = "a meta row that cannot be read";
    if (!broken_.empty()) return false;
    open.meta = std::move(std::get<Meta>(meta));
    if (open.birth != logged.empty()) broken_ = open.birth ? "a partition born twice" : "a partition never born";
    logged.push_back(std::exchange(open, {}));
  }
  if (!open.rows.empty()) broken_ = "rows without a meta row behind them";
  return broken_.empty();
}

void Replay::run(Produced& produced, Counters& counters) {
  std::vector<LoggedBatch> logged;
  if (!read_changelog(logged)) {
    broken_ = "partition " + std::to_string(partition_.value()) + ": " + broken_;
    return;
  }
  for (const LoggedBatch& one : logged) {
    if (one.birth) {
      give_birth(one);
      batches_.emplace_back().meta = one.meta;
    } else {
      decide(one, produced, counters);
    }
  }
}

void Replay::give_birth(const LoggedBatch& birth) {
  for (const store::Change& row : birth.rows) {
    if (row.key == codec::identity_key())
      hash_ =
          std::make_unique<codec::KeyedHash>(std::get<Identity>(codec::decode_identity(row.key, *row.value)).hash_key);
    if (row.key == codec::target_table_key())
      targets_ = std::get<TargetTable>(codec::decode_targets(row.key, *row.value));
  }
  rows_->hash = hash_.get();
  setting_ = std::make_unique<runtime::PartitionSetting>(runtime::partition_setting(application_, targets_));
  state_ = birth.meta.state;
}

namespace {

std::vector<Source> sources_of(const runtime::Application& application, const History& history, Partition partition,
                               const Meta& meta) {
  std::vector<Source> sources;
  for (const InputRange& range : meta.ranges) {
    const Place place{application.topics.of(range.role).value(), partition};
    for (const Kept* kept : history.between(place, range.first, range.end)) {
      Source source{kept, range.role, {}};
      for (const StoredHeader& header : kept->record->headers)
        source.headers.push_back({header.name, view(header.value)});
      sources.push_back(std::move(source));
    }
  }
  return sources;
}

codec::InputRecord input_of(const Source& source, Partition partition) {
  const StoredRecord& record = *source.kept->record;
  return {source.role,          partition,     source.kept->offset, record.timestamp, view(record.key),
          view(record.payload), source.headers};
}

}  // namespace

void Replay::decide(const LoggedBatch& logged, Produced& produced, Counters& counters) {
  ReplayedBatch& replayed = batches_.emplace_back();
  replayed.meta = logged.meta;
  engine::Context context = setting_->context;
  context.now = logged.meta.now;
  const codec::DecodeContext decoding{&setting_->known, application_.sequence_kind, application_.partitioner,
                                      application_.partitions, context.intake == engine::Intake::kTap};
  const std::vector<Source> sources = sources_of(application_, history_, partition_, logged.meta);
  std::vector<codec::InputRecord> inputs;
  inputs.reserve(sources.size());
  engine::Batch batch(*rows_, state_, context);
  for (const Source& source : sources) {
    inputs.push_back(input_of(source, partition_));
    if (batch.decide(codec::decode(inputs.back(), decoding), source.kept->offset, true) != engine::Verdict::kDecided)
      return differ("an input was not decided");
  }
  fire_timers(logged, batch);
  sweep(logged.meta, batch);
  batch.close(application_.events);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Decision& decision = batch.decisions()[i];
    replayed.inputs.push_back({sources[i].role, sources[i].kept->record.get(), decision});
    ++counters["table row " + std::string(name_of(decision.table_row))];
    ++counters["outcome " + std::string(name_of(decision.outcome))];
    ++counters["reason " + std::string(name_of(decision.reason))];
  }
  compare(logged, batch);
  for (const Emission& emission : batch.emissions()) produce(emission, inputs, produced);
  rows_->apply(batch.changes());
  state_ = batch.state();
}

// Which timers fired is not in the meta row: the rows say it.
void Replay::fire_timers(const LoggedBatch& logged, engine::Batch& batch) {
  for (const store::Change& change : logged.rows) {
    const auto known = rows_->by_key.find(change.key);
    if (known == rows_->by_key.end() || !change.value || known->second.row.overdue) continue;
    if (!std::get<codec::DocumentRow>(codec::decode_row(change.key, *change.value)).row.overdue) continue;
    batch.fire_overdue(known->second.id);
    batches_.back().fired.push_back({known->second.id, known->second.row.deadline});
  }
}

void Replay::sweep(const Meta& meta, engine::Batch& batch) {
  if (meta.swept_from.empty()) return;
  for (auto one = rows_->by_key.lower_bound(meta.swept_from); one != rows_->by_key.end() && one->first < meta.swept_to;
       ++one) {
    const Row& row = one->second.row;
    if (row.completed() && row.deadline != UnixMs() && row.deadline <= meta.now) batch.expire_watermark(one->second.id);
  }
}

void Replay::compare(const LoggedBatch& logged, const engine::Batch& batch) {
  Arena arena;
  std::vector<store::Change> rows;
  changelog::append_rows(batch.changes(), *hash_, arena, rows);
  const bool same = std::equal(rows.begin(), rows.end(), logged.rows.begin(), logged.rows.end(),
                               [](const auto& a, const auto& b) { return a.key == b.key && a.value == b.value; });
  if (!same) differ("rows");
  if (batch.state() != logged.meta.state) differ("clock, last version or default epoch");
  for (const RowChange& change : batch.changes())
    if (!change.row) batches_.back().expired.emplace_back(change.id);
}

void Replay::produce(const Emission& emission, const std::vector<codec::InputRecord>& inputs, Produced& produced) {
  const bool timer = emission.input == kNoInput;
  const codec::InputRecord* input = timer ? nullptr : &inputs[emission.input.value()];
  codec::EncodeContext encoding;
  encoding.targets = &targets_;
  encoding.sequence_kind = application_.sequence_kind;
  encoding.dead_letter_headers = application_.dead_letter_headers;
  encoding.input_topic = application_.topics.name(application_.topics.of(timer ? Role::kControl : input->role));
  encoding.dead_letter_bytes_max = application_.record_bytes_max[application_.topics.of(Role::kDeadLetter).value()];
  Arena arena;
  const codec::OutputRecord record = codec::encode(emission, input, encoding, arena);
  const kafka::TopicIndex topic =
      record.role == Role::kOutput ? setting_->outputs[record.target->value()] : application_.topics.of(record.role);
  ReplayedBatch& replayed = batches_.back();
  produced[topic.value()].push_back(
      produced_record(record, timer ? std::span<const Header>() : input->headers, replayed.meta.now));
  const auto* release = std::get_if<Release>(&emission.what);
  if (release == nullptr) return;
  Released released;
  released.id = std::string(*input->key);
  released.target = targets_.name(release->target);
  released.epoch = release->order.epoch.value();
  released.sequence = number_of(release->order.sequence);
  released.revision = release->order.revision.value();
  if (input->payload) released.payload = *input->payload;
  replayed.releases.push_back(std::move(released));
}

}  // namespace reseq::simulation
