#include "consumers/remote/remote_sink.h"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "base/log.h"
#include "consumers/stage/work_reader.h"
#include "kafka/error_questions.h"

namespace reseq::remote {
namespace {

using std::chrono::milliseconds;

constexpr Milliseconds kPoll{20};
constexpr Milliseconds kPollWhileResting{20};
constexpr milliseconds kWaitForRoom{20};
constexpr milliseconds kFullUntilResting{1'000};
constexpr milliseconds kLookEvery{5};
constexpr milliseconds kPublishEvery{250};
// What is being written when partitions are taken away gets so long to end; the others of the group wait for it.
constexpr milliseconds kSettleLimit{5'000};
constexpr milliseconds kBeginAgain{500};
// Two heartbeats: then the group has told who owns what.
constexpr milliseconds kGroupHasTold{2'500};
constexpr Milliseconds kPlacesLimit{10'000};
constexpr Milliseconds kCloseLimit{5'000};
constexpr milliseconds kPrepareAgain{500};

}  // namespace

RemoteSink::RemoteSink(RemoteSinkOptions options, kafka::Connection connection, OpenRemoteStore open,
                       DeadLetters& letters, Tally& tally)
    : options_(std::move(options)),
      connection_(std::move(connection)),
      open_(std::move(open)),
      letters_(letters),
      tally_(tally),
      lanes_(options_.in_flight_max),
      pulse_(options_.session_timeout) {}

RemoteSink::~RemoteSink() {
  lanes_.drop_all();
  lanes_.stop();
  if (upkeep_) upkeep_->interrupt();
  for (const auto& store : stores_)
    if (store) store->interrupt();
  letters_.interrupt();
  for (std::thread& thread : threads_) thread.join();
  // It gives its partitions back, and what that touches has to be there still.
  if (consumer_) consumer_->close(kCloseLimit);
  // Records are destroyed before the client that made them.
  (void)lanes_.finished(milliseconds(0));
  reading_.clear();
}

Result<> RemoteSink::start(const std::function<bool()>& stop) {
  auto admin = kafka::Admin::open(connection_);
  if (!admin) return admin.error();
  admin_ = std::move(admin).value();
  if (Result<> opened = open_stores(stop); !opened || stop()) return opened;
  kafka::GroupConsumerSettings group;
  group.group_id = options_.group;
  group.group_instance_id = options_.instance_id;
  group.topics = {options_.topic};
  group.session_timeout = Milliseconds(options_.session_timeout.count());
  group.starts_by_hand = true;
  auto consumer =
      kafka::GroupConsumer::join(connection_, group, [this](const kafka::Rebalance& change) { on_rebalance(change); });
  if (!consumer) return consumer.error();
  consumer_ = std::move(consumer).value();
  pulse_.beat(Clock::now());
  for (const auto& store : stores_)
    threads_.emplace_back(
        [this, one = store.get()] { Writer(*one, lanes_, letters_, tally_, pulse_, options_.back_off).run(); });
  upkeep_ = std::make_unique<Upkeep>(*tended_, lanes_, begins_reading_, tally_, options_.tend_interval);
  threads_.emplace_back([this] { upkeep_->run(); });
  return Done{};
}

Result<> RemoteSink::open_stores(const std::function<bool()>& stop) {
  const auto open_one = [this](std::unique_ptr<RemoteStore>& place) -> Result<> {
    auto store = open_();
    if (!store) return store.error();
    place = std::move(store).value();
    return Done{};
  };
  if (Result<> opened = open_one(asked_); !opened) return opened;
  if (Result<> opened = open_one(tended_); !opened) return opened;
  for (std::size_t i = 0; i < options_.connections; ++i)
    if (Result<> opened = open_one(stores_.emplace_back()); !opened) return opened;
  while (!stop()) {
    Result<> prepared = prepare();
    if (prepared) {
      tally_.good();
      return Done{};
    }
    if (!stage::means_later(prepared.error())) return prepared;
    tally_.trouble(prepared.error());
    std::this_thread::sleep_for(kPrepareAgain);
  }
  return Done{};
}

Result<> RemoteSink::prepare() {
  if (!asked_->keeps_positions())
    if (Result<> kept = judge_missing(*asked_, *admin_, options_.group, options_.topic); !kept) return kept;
  return asked_->prepare();
}

void RemoteSink::on_rebalance(const kafka::Rebalance& change) {
  if (change.kind == kafka::Rebalance::Kind::kAssigned) {
    owned_.clear();
    for (const kafka::PlainOffset& one : change.partitions) owned_.push_back(one.partition);
    begins_reading_ = true;
    begin_at_ = Clock::now();
    spdlog::info("group=assigned partitions={}", owned_.size());
    return;
  }
  const bool may_commit = change.kind == kafka::Rebalance::Kind::kRevoked;
  spdlog::info("group={} partitions={}", may_commit ? "revoked" : "lost", change.partitions.size());
  lanes_.drop_all();
  if (may_commit) {
    lanes_.settle(kSettleLimit);
    for (const Finished& finished : lanes_.finished(milliseconds(0))) account(finished);
    // What cannot be committed now is done again by the next owner: nothing to report.
    (void)commit();
  }
  forget();
  owned_.clear();
  begins_reading_ = false;
}

void RemoteSink::forget() {
  lanes_.drop_all();
  for (auto& [partition, reading] : reading_) in_flight_.revoked(partition);
  reading_.clear();
  open_bytes_ = 0;
  resting_ = false;
  full_since_.reset();
}

Result<> RemoteSink::distrust(std::string_view why, const std::string& words) {
  spdlog::warn("reading=again why={} words={}", why, log::outside(words));
  forget();
  begins_reading_ = !owned_.empty();
  begin_at_ = Clock::now() + kGroupHasTold;
  return consumer_->read_from({});
}

Result<std::map<Partition, Offset>> RemoteSink::known_positions() {
  if (asked_->keeps_positions()) return asked_->positions(owned_);
  auto committed = admin_->committed(options_.group, options_.topic, kPlacesLimit);
  if (!committed) return committed.error();
  std::map<Partition, Offset> known;
  for (const kafka::PlainOffset& one : committed.value())
    if (one.offset != kNoOffset) known[one.partition] = one.offset;
  return known;
}

Result<> RemoteSink::begin_partition(Partition partition, std::optional<Offset> position, Offset from, Offset end) {
  if (asked_->keeps_positions())
    if (Result<> begun = asked_->begin_at(partition, position, from); !begun) return begun;
  reading_[partition] = {.position = from, .done = from, .end = end, .open = nullptr};
  return Done{};
}

// A group forgets what it has committed, seven days after its last member is gone if nothing else is configured.
void RemoteSink::tell_of_missing_begins(const std::vector<kafka::PlainOffset>& begins,
                                        const std::map<Partition, Offset>& known) {
  std::size_t count = 0;
  for (const Partition partition : owned_)
    if (!known.contains(partition) && begins[static_cast<std::size_t>(partition.value())].offset > Offset(0)) ++count;
  if (count == 0) return;
  spdlog::warn(
      "reading=first_records_are_gone partitions={} to_do=\"no position is known of them, and the topic does not go "
      "back to their beginning: what was released before is missing, unless an earlier run has written it. If one has, "
      "and "
      "was stopped for longer than the group or the topic remembers, load into a new place\"",
      count);
}

Result<> RemoteSink::tell_of_emptied_place(std::span<const LogRange> logs, const std::map<Partition, Offset>& known) {
  const auto count = std::count_if(owned_.begin(), owned_.end(), [&](Partition partition) {
    const auto position = known.find(partition);
    return position != known.end() && has_read(logs[static_cast<std::size_t>(partition.value())], position->second);
  });
  if (count == 0 || emptied_told_) return Done{};
  const auto empty = asked_->is_empty();
  if (!empty || !empty.value()) return empty ? Result<>(Done{}) : Result<>(empty.error());
  emptied_told_ = true;
  const bool keeps_positions = asked_->keeps_positions();
  spdlog::warn("reading=behind_an_empty_place place={} partitions={} to_do=\"{}\"", log::outside(asked_->place()),
               count, words_of_emptied(keeps_positions, options_.group, options_.topic));
  return Done{};
}

std::optional<RemoteSink::NotBegun> RemoteSink::begin_partitions() {
  auto begins = admin_->begins(options_.topic, kPlacesLimit);
  if (!begins) return NotBegun{begins.error()};
  auto known = known_positions();
  if (!known) return NotBegun{known.error(), asked_->keeps_positions()};
  // Asked last: no position is behind it.
  auto ends = admin_->stable_ends(options_.topic, kPlacesLimit);
  if (!ends) return NotBegun{ends.error()};
  const std::size_t partitions = std::min(begins.value().size(), ends.value().size());
  for (const Partition partition : owned_)
    if (static_cast<std::size_t>(partition.value()) >= partitions)
      return NotBegun{
          {ErrorClass::kRetriable, 0, "partition " + std::to_string(partition.value()) + " is not known yet"}};
  tell_of_missing_begins(begins.value(), known.value());
  std::vector<LogRange> logs;
  for (std::size_t p = 0; p < partitions; ++p) logs.push_back({begins.value()[p].offset, ends.value()[p].offset});
  if (Result<> told = tell_of_emptied_place(logs, known.value()); !told) return NotBegun{told.error(), true};
  for (const Partition partition : owned_) {
    const auto found = known.value().find(partition);
    const auto position = found == known.value().end() ? std::nullopt : std::optional(found->second);
    const LogRange& log = logs[static_cast<std::size_t>(partition.value())];
    const Result<Offset> from = start_of(partition, position, log, options_.skip_lost);
    if (!from) return NotBegun{from.error()};
    if (Result<> begun = begin_partition(partition, position, from.value(), log.end); !begun)
      return NotBegun{begun.error(), true};
  }
  return std::nullopt;
}

Result<> RemoteSink::begin_reading() {
  if (!begins_reading_ || Clock::now() < begin_at_) return Done{};
  const std::optional<NotBegun> failed = begin_partitions();
  pulse_.beat(Clock::now());  // it may have waited for answers; nothing is being written
  if (failed) {
    reading_.clear();
    const bool is_told =
        stage::means_later(failed->error) || (failed->of_store && failed->error.what_to_do == ErrorClass::kInvalid);
    if (!is_told) return failed->error;
    tally_.trouble(failed->error);
    begin_failed_ = true;
    begin_at_ = Clock::now() + kBeginAgain;
    return Done{};
  }
  std::vector<kafka::PlainOffset> places;
  for (const auto& [partition, reading] : reading_) {
    places.push_back({options_.topic, partition, reading.position});
    in_flight_.assigned(partition);
  }
  begins_reading_ = false;
  if (Result<> reads = consumer_->read_from(places); !reads) return reads;
  if (std::exchange(begin_failed_, false)) tally_.good();
  return Done{};
}

Result<> RemoteSink::step() {
  const auto now = Clock::now();
  if (!pulse_.is_fresh(now)) {
    const auto stood = std::chrono::duration_cast<milliseconds>(now - pulse_.last());
    if (Result<> again = distrust("stood-still", std::to_string(stood.count()) + " ms"); !again) return again;
  }
  pulse_.beat(now);
  if (Result<> taken = take_finished(milliseconds(0)); !taken) return taken;
  if (Result<> begun = begin_reading(); !begun) return begun;
  if (Result<> stepped = lanes_.bytes() + open_bytes_ >= options_.bytes_max || resting_ ? make_room() : read();
      !stepped)
    return stepped;
  if (now - looked_at_ >= kLookEvery) {
    looked_at_ = now;
    hand_over_due(now);
  }
  if (now - committed_at_ >= options_.commit_interval)
    if (Result<> committed = commit(); !committed) return committed;
  if (now - published_at_ >= kPublishEvery) publish(now);
  return Done{};
}

Result<> RemoteSink::read() {
  full_since_.reset();
  auto polled = consumer_->poll(kPoll);
  // Retention does not wait: whether that is the end is judged as at the start.
  if (!polled && kafka::is_out_of_range(polled.error())) return distrust("lost", polled.error().message);
  if (!polled) return polled.error();
  if (polled.value()) return take_record(std::move(*polled.value()));
  follow_positions();
  return Done{};
}

Result<> RemoteSink::take_record(kafka::PlainRecord record) {
  const auto reading = reading_.find(record.partition);
  if (reading == reading_.end()) return Done{};
  auto& [partition, state] = *reading;
  if (state.open == nullptr)
    state.open =
        std::make_unique<LoadBuilder>(partition, state.position, options_.check, options_.target, Clock::now());
  open_bytes_ -= state.open->bytes();
  state.open->add(std::move(record));
  open_bytes_ += state.open->bytes();
  if (state.open->is_full(options_.load)) hand_over(partition, state);
  return Done{};
}

// At the end of the log the reader has passed control records too: whoever waits for the end sees it reached.
void RemoteSink::follow_positions() {
  for (const kafka::PlainOffset& position : consumer_->positions()) {
    const auto reading = reading_.find(position.partition);
    if (position.offset == kNoOffset || reading == reading_.end()) continue;
    Reading& state = reading->second;
    if (state.open == nullptr) {
      if (position.offset <= state.position) continue;
      state.open = std::make_unique<LoadBuilder>(position.partition, state.position, options_.check, options_.target,
                                                 Clock::now());
    }
    state.open->reached(position.offset);
  }
}

void RemoteSink::hand_over(Partition partition, Reading& reading) {
  open_bytes_ -= reading.open->bytes();
  std::shared_ptr<Load> load = reading.open->take();
  reading.open.reset();
  load->ticket = in_flight_.start(partition, load->batch.first);
  in_flight_.reached(partition, load->batch.next);
  reading.position = load->batch.next;
  lanes_.put(std::move(load));
}

void RemoteSink::hand_over_all() {
  for (auto& [partition, reading] : reading_)
    if (reading.open != nullptr) hand_over(partition, reading);
}

void RemoteSink::hand_over_due(Clock::time_point now) {
  for (auto& [partition, reading] : reading_)
    if (reading.open != nullptr && reading.open->due_at(options_.load) <= now) hand_over(partition, reading);
}

// Nothing is read for a moment. When that lasts, what librdkafka has fetched is given up, so that the group can be
// polled without a record coming.
Result<> RemoteSink::make_room() {
  const auto now = Clock::now();
  hand_over_all();  // nothing more comes
  if (!full_since_) full_since_ = now;
  if (resting_ && lanes_.bytes() <= options_.bytes_max / 2) return go_on();
  if (!resting_ && now - *full_since_ >= kFullUntilResting)
    if (Result<> rested = rest(); !rested) return rested;
  if (resting_) {
    auto polled = consumer_->poll(kPollWhileResting);
    if (!polled) return polled.error();
  }
  return take_finished(resting_ ? milliseconds(0) : kWaitForRoom);
}

Result<> RemoteSink::rest() {
  resting_ = true;
  return consumer_->read_from({});
}

Result<> RemoteSink::go_on() {
  resting_ = false;
  full_since_.reset();
  std::vector<kafka::PlainOffset> places;
  for (const auto& [partition, reading] : reading_)
    places.push_back({options_.topic, partition, reading.open != nullptr ? reading.open->next() : reading.position});
  return consumer_->read_from(places);
}

bool RemoteSink::account(const Finished& finished) {
  const Load& load = *finished.load;
  const bool is_ours = in_flight_.contains(load.ticket);
  Counts counts;
  if (finished.outcome == Outcome::kWritten) {
    counts.batches = 1;
    counts.records = load.counts.records;
    counts.not_for_us = load.counts.not_for_us;
    counts.not_newer = load.counts.outrun;
    in_flight_.finished(load.ticket);
  }
  counts.dropped = finished.outcome == Outcome::kDropped ? 1 : 0;
  counts.fenced = finished.outcome == Outcome::kFenced ? 1 : 0;
  tally_.add(counts);
  return is_ours;
}

Result<> RemoteSink::take_finished(milliseconds limit) {
  for (const Finished& finished : lanes_.finished(limit)) {
    const bool is_ours = account(finished);
    if (finished.outcome == Outcome::kFatal) return finished.error;
    if (finished.outcome == Outcome::kFenced && is_ours)
      if (Result<> again = distrust("fenced", finished.error.message); !again) return again;
  }
  return Done{};
}

Result<> RemoteSink::commit() {
  committed_at_ = Clock::now();
  const std::vector<stage::NextOffset> offsets = in_flight_.take_committable();
  if (offsets.empty()) return Done{};
  std::vector<kafka::PlainOffset> next;
  for (const stage::NextOffset& offset : offsets) next.push_back({options_.topic, offset.partition, offset.next});
  Result<> committed = consumer_->commit(next);
  if (!committed) {
    // Not committed is not lost: the same records are read again. Whose the partitions are tells the group.
    if (!stage::means_later(committed.error())) return committed;
    in_flight_.not_committed(offsets);
    return Done{};
  }
  for (const stage::NextOffset& offset : offsets)
    if (const auto reading = reading_.find(offset.partition); reading != reading_.end())
      reading->second.done = offset.next;
  return Done{};
}

void RemoteSink::publish(Clock::time_point now) {
  published_at_ = now;
  Places places;
  for (auto& [partition, reading] : reading_) {
    if (const auto end = consumer_->known_end(options_.topic, partition)) reading.end = std::max(reading.end, *end);
    places.lag[partition] = std::max<std::int64_t>(0, reading.end.value() - reading.done.value());
    places.done[partition] = reading.done;
  }
  places.batches_in_flight = lanes_.running() + lanes_.waiting();
  places.bytes_in_flight = lanes_.bytes();
  if (const auto oldest = lanes_.oldest()) places.oldest = std::chrono::duration_cast<milliseconds>(now - *oldest);
  places.resting = resting_;
  places.published = now;
  tally_.publish(std::move(places));
}

Result<> RemoteSink::finish(milliseconds limit) {
  if (consumer_ == nullptr) return Done{};
  if (upkeep_) upkeep_->interrupt();
  hand_over_all();
  const auto until = Clock::now() + limit;
  // A server that is away would not come back within the limit: what is left is read again at the next start.
  while (lanes_.oldest() && Clock::now() < until && tally_.standing().kind == Standing::Kind::kGood) {
    pulse_.beat(Clock::now());
    if (Result<> taken = take_finished(kWaitForRoom); !taken) return taken;
  }
  consumer_->close(kCloseLimit);
  publish(Clock::now());
  return Done{};
}

}  // namespace reseq::remote
