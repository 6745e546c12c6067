#include "tests/simulation/world/world.h"

#include <iostream>
#include <spdlog/spdlog.h>
#include <utility>
#include <vector>

#include "codec/header_names.h"
#include "engine/journal/journal_batch.h"
#include "engine/orders/orders_batch.h"
#include "runtime/application/topic_rules.h"
#include "tests/judge/review.h"
#include "tests/judge/story.h"
#include "tests/simulation/world/checks.h"

namespace reseq::simulation {

namespace {

constexpr UnixMs kStart{1'700'000'000'000};
constexpr int kHealRounds = 6'000;
constexpr int kFinishRounds = 12;
constexpr int kStepsPerPartition = 4;  // of a transaction
constexpr Milliseconds kTick{3};
constexpr int kRoundsAtOnce = 50;  // of heal(), before it lets time pass
constexpr Milliseconds kNap{250};

Scenario scenario_of(Draw& draw, std::int32_t partitions, Profile profile) {
  Scenario drawn = draw_scenario(draw);
  if (partitions != 0) drawn = of_many_partitions(std::move(drawn), partitions);
  if (profile == Profile::kJournal) return of_journal(std::move(drawn), draw);
  if (profile == Profile::kLanes) return of_lanes(std::move(drawn), draw);
  if (profile == Profile::kLanesJournal) return of_lanes_in_journal(of_journal(std::move(drawn), draw), draw);
  return profile == Profile::kGated ? of_gate(std::move(drawn), draw) : drawn;
}

// In every third world what is large is held by reference, in another third all.
gate::WindowGate::Settings gate_of(const Scenario& scenario, std::uint64_t seed) {
  return {.window = Milliseconds(700),
          .every = 3,
          .drained_max = 2,
          .partitions = scenario.partitions,
          .reference_above = seed % 3 == 0   ? UINT64_MAX
                             : seed % 3 == 1 ? kPayloadOfPieces
                                             : 0};
}

}  // namespace

World::World(std::uint64_t seed, const Guards& guards, const std::string& root, std::int32_t partitions,
             Profile profile)
    : draw_(seed),
      scenario_(scenario_of(draw_, partitions, profile)),
      time_(kStart),
      broker_(time_, draw_, scenario_.broker),
      gate_(profile == Profile::kGated ? std::optional<gate::WindowGate>(gate_of(scenario_, seed)) : std::nullopt),
      application_(scenario_.settings),
      topics_(application_.topics.names().size()),
      fleet_((create_topics(), scenario_), guards, gate_ ? &*gate_ : nullptr, time_, broker_, root, counters_),
      producers_(scenario_, broker_, counters_),
      pipeline_(scenario_, broker_, producers_, counters_),
      operators_(scenario_, broker_, counters_, seed),
      specification_(producers_, pipeline_, scenario_.weights.retention > 0),
      recorder_(broker_, topics_, scenario_.partitions),
      retention_(scenario_, application_, broker_, recorder_, counters_) {
  application_.guards = guards;
  application_.gate = gate_ ? &*gate_ : nullptr;
}

// In the order of the application's list: a TopicIndex is a topic of the brokers.
void World::create_topics() {
  for (std::size_t i = 0; i < topics_; ++i) {
    const kafka::TopicIndex topic(static_cast<std::uint16_t>(i));
    kafka::TopicFacts facts{.partitions = scenario_.partitions,
                            .max_message_bytes = 1'000'000,
                            .retention_ms = scenario_.settings.watermark_retention_ms};
    if (topic == application_.topics.of(Role::kRequests)) facts.retention_ms = scenario_.requests_retention_ms;
    if (topic == application_.topics.of(Role::kWork)) facts.max_message_bytes = kWorkBytesMax;
    if (topic == application_.topics.of(Role::kDeadLetter)) facts.max_message_bytes = kDeadLetterBytesMax;
    for (std::size_t t = 0; t < scenario_.settings.targets.size(); ++t)
      if (topic == application_.topics.output(t)) facts.max_message_bytes = kOutputBytesMax;
    if (topic == application_.topics.of(Role::kChangelog)) {
      facts.compacts = true;
      facts.deletes = false;
      facts.delete_retention_ms = scenario_.delete_retention_ms;
    }
    broker_.create_topic(application_.topics.name(topic), facts);
  }
}

std::string World::play() {
  const Process process;
  SimulatedCluster cluster(broker_, process, {.topics = application_.topics.names(), .transactional_id = "judge"});
  const auto asked = application_.ask(cluster, Milliseconds(1));
  if (!asked) return asked.error().message;
  for (const runtime::Finding& finding : runtime::judge_topics(application_, asked.value()))
    if (finding.severity == runtime::Severity::kError) return finding.text;
  broker_.faults().set_rates(scenario_.faults);
  for (std::size_t i = 0; i < fleet_.size(); ++i) fleet_.start(i);
  for (std::size_t i = 0; i < scenario_.ticks && fleet_.trouble().empty(); ++i) tick();
  if (fleet_.trouble().empty()) heal();
  std::string wrong = fleet_.trouble();
  if (wrong.empty() && !quiet()) wrong = "it does not become quiet\n" + fleet_.describe();
  if (wrong.empty()) wrong = judge();
  fleet_.take_all_down();
  count();
  return wrong;
}

void World::pass(Milliseconds time) {
  time_.advance(time);
  broker_.tick();
}

void World::work(std::size_t i, std::size_t w, std::uint64_t steps) {
  for (std::uint64_t step = 0; step < steps && fleet_.runs(i); ++step) {
    fleet_.step(i, w);
    pass(Milliseconds(static_cast<std::int64_t>(draw_.below(3))));
  }
}

void World::tick() {
  if (draw_.chance(scenario_.weights.request)) producers_.write();
  if (draw_.chance(300)) pipeline_.step();
  operators_.tick();
  act();
  for (std::size_t i = 0; i < fleet_.size(); ++i) {
    if (!fleet_.runs(i) && draw_.chance(15)) fleet_.start(i);
    if (fleet_.runs(i) && fleet_.paused(i) && draw_.chance(25)) fleet_.resume(i);
  }
  const std::size_t i = draw_.below(fleet_.size());
  work(i, draw_.below(fleet_.workers()), 1 + draw_.below(10));
  pass(kTick);
}

void World::act() {
  const Weights& weights = scenario_.weights;
  if (draw_.chance(weights.kill))
    if (const auto i = any(true)) fleet_.kill(*i);
  if (draw_.chance(weights.stop))
    if (const auto i = any(true); i && !fleet_.paused(*i)) fleet_.stop(*i);
  if (draw_.chance(weights.pause))
    if (const auto i = any(true); i && !fleet_.paused(*i)) fleet_.pause(*i);
  if (draw_.chance(weights.clock_step))
    if (const auto i = any(true))
      fleet_.step_clock(*i, Milliseconds(static_cast<std::int64_t>(draw_.below(60'000)) - 30'000));
  if (draw_.chance(weights.compact)) compact();
  if (draw_.chance(weights.retention)) retention_.take();
  if (draw_.chance(weights.forget_offsets)) {
    broker_.group().forget_offsets();
    ++counters_["offsets of the group forgotten"];
  }
  if (draw_.chance(weights.nap))
    for (std::uint64_t naps = 1 + draw_.below(8); naps > 0; --naps) pass(kNap);
  trouble_a_disk(draw_.below(1'000));
}

// Of a process that is down, or goes down now.
void World::trouble_a_disk(std::uint64_t what) {
  const Weights& weights = scenario_.weights;
  if (what >= weights.power_loss + weights.lose_copy + weights.damage_copy) return;
  auto i = any(false);
  if (!i) {
    i = any(true);
    if (!i) return;
    fleet_.kill(*i);
  }
  const Partition partition(static_cast<std::int32_t>(draw_.below(static_cast<std::uint64_t>(scenario_.partitions))));
  if (what < weights.power_loss) return fleet_.power_loss(*i);
  if (what < weights.power_loss + weights.lose_copy) return fleet_.lose_copy(*i, partition);
  fleet_.damage_copy(*i, partition);
}

void World::compact() {
  recorder_.read();
  broker_.compact(application_.topics.of(Role::kChangelog).value(), static_cast<std::int64_t>(draw_.below(10)));
  ++counters_["compactions"];
}

// A process that runs, or one that does not.
std::optional<std::size_t> World::any(bool running) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < fleet_.size(); ++i)
    if (fleet_.runs(i) == running) found.push_back(i);
  if (found.empty()) return std::nullopt;
  return found[draw_.below(found.size())];
}

void World::heal() {
  broker_.faults().set_rates({});
  broker_.settings().marker_per_mille = 1'000;
  broker_.settings().late_per_mille = 1'000;
  operators_.resume_all();
  for (int round = 0; round < kHealRounds && fleet_.trouble().empty(); ++round) {
    for (std::size_t i = 0; i < fleet_.size(); ++i) {
      if (!fleet_.runs(i)) fleet_.start(i);
      if (fleet_.paused(i)) fleet_.resume(i);
      if ((gate_ || scenario_.journal || scenario_.lanes) && fleet_.clock_frozen(i)) start_again(i);
      for (std::size_t w = 0; w < fleet_.workers(); ++w) work(i, w, 5);
    }
    pipeline_.deliver_all();
    finish_transactions();
    if (quiet()) return;
    if (scenario_.journal || scenario_.lanes) wait_for_dates(round);
    if (round % kRoundsAtOnce == 0) resume_targets();
  }
}

// Those that are not tried before somebody says so.
void World::resume_targets() {
  if (!fleet_.settled()) return;
  for (std::int32_t p = 0; p < scenario_.partitions; ++p) {
    const store::PartitionStore& owned = fleet_.owner(Partition(p))->store();
    for (const Breaker& breaker : owned.meta()->state.breakers)
      if (breaker.until_resume) operators_.resume_target(Partition(p), owned.targets().name(breaker.target));
  }
}

// Leases and back-offs may be long: what is stuck waits for ten minutes.
void World::wait_for_dates(int round) {
  if (round >= kRoundsAtOnce) pass(kNap);
}

// What a gate or the journal holds waits while a clock is not trusted.
void World::start_again(std::size_t i) {
  fleet_.stop(i);
  fleet_.start(i);
}

// Heartbeats go on: there is hardly a moment without a transaction, unless nobody begins one.
void World::finish_transactions() {
  for (int round = 0; round < kFinishRounds + kStepsPerPartition * scenario_.partitions; ++round) {
    for (std::size_t i = 0; i < fleet_.size(); ++i)
      for (std::size_t w = 0; w < fleet_.workers(); ++w)
        if (fleet_.runs(i) && fleet_.worker(i, w).transaction() != nullptr) work(i, w, 1);
    pass(kTick);
  }
}

bool World::quiet() {
  if (!fleet_.settled() || !broker_.quiet() || !pipeline_.idle()) return false;
  // Who was thrown out and was not told yet looks like an owner, and the one that follows may not have begun.
  const Group& group = broker_.group();
  if (group.rebalancing() || group.members() != fleet_.size() * fleet_.workers()) return false;
  for (std::int32_t p = 0; p < scenario_.partitions; ++p) {
    const store::PartitionStore& owned = fleet_.owner(Partition(p))->store();
    if (owned.summary().counts.any_rare()) return false;
    for (const InputPosition& position : owned.meta()->positions)
      if (broker_.log({application_.topics.of(position.role).value(), Partition(p)}).next_committed(position.next) !=
          nullptr)
        return false;
  }
  return true;
}

std::uint64_t World::hash() {
  std::uint64_t hash = broker_.journal().hash();
  for (const auto& [place, log] : history().logs())
    for (std::size_t i = 0; i < log.size(); ++i) {
      const Digest record = judge::fingerprint(log[i]);
      for (const std::uint64_t half : {record.high, record.low}) hash = (hash ^ half) * 0x100000001b3U ^ (hash >> 29U);
    }
  return hash;
}

std::string World::judge() {
  recorder_.read();
  // Without that guard its consequences are what is looked for.
  if (application_.guards.recycle_on_doubt && broker_.counters().begins_in_doubt != 0)
    return "a transaction was begun by a producer in doubt";
  judge::Verdict verdict;
  judge::ReviewOptions options;
  options.exact_timers = !scenario_.clocks_differ;
  options.visit = [&](Partition partition, const judge::ReplayedBatch& batch) {
    look_at(partition, batch);
    retention_.look_at(partition, batch, verdict);
  };
  const auto folds = judge::review(application_, recorder_.history(), specification_, options, verdict);
  for (std::size_t p = 0; p < folds.size(); ++p)
    check_owner(application_, broker_, folds[p], *fleet_.owner(Partition(static_cast<std::int32_t>(p))), verdict);
  std::string wrong;
  for (const std::string& line : verdict.lines()) wrong += (wrong.empty() ? "" : "\n") + line;
  return wrong;
}

void World::look_at(Partition partition, const judge::ReplayedBatch& batch) {
  if (spdlog::should_log(spdlog::level::debug)) judge::tell(partition, batch, std::cerr);
  for (const judge::Decided& decided : batch.inputs) {
    if (judge::header_of(decided.record, codec::header::kCommand) == "heartbeat")
      ++counters_["heartbeats " + std::string(name_of(decided.decision.outcome))];
    const auto operation = judge::header_of(decided.record, codec::header::kControl);
    if (decided.role == Role::kControl && operation)
      ++counters_["operation " + std::string(*operation) + " " + std::string(name_of(decided.decision.outcome))];
    ++counters_["table row " + std::string(name_of(decided.decision.table_row))];
    ++counters_["outcome " + std::string(name_of(decided.decision.outcome))];
    ++counters_["reason " + std::string(name_of(decided.decision.reason))];
  }
  counters_["held records read again"] += batch.read_again;
  if (batch.meta.summary.counts[Count::kHeldPieces] > 0) ++counters_["batches beside held pieces"];
  for (const judge::GivenUp& one : batch.given_up) ++counters_["reason " + std::string(name_of(one.reason))];
  for (const judge::Dispatched& one : batch.dispatched)
    if (one.attempt > 1) ++counters_["dispatched again"];
  if (!batch.down.empty()) ++counters_["batches while a target is down"];
  count_turns(batch);
}

void World::count_turns(const judge::ReplayedBatch& batch) {
  for (const AgendaDone& done : batch.done) {
    const std::string who = engine::is_journal_kind(done.kind)  ? "journal "
                            : engine::is_orders_kind(done.kind) ? "lanes "
                                                                : "gate ";
    counters_[who + std::string(runtime::kind_of(application_, done.kind).name)] += done.rows;
  }
}

std::optional<Asked> WorldSpecification::asked(const judge::Record& request) const {
  if (!judge::header_of(request, kNumber)) return std::nullopt;
  return producers_.asked_under(judge::number_of(request, kNumber));
}

void World::count() {
  const BrokerCounters& broker = broker_.counters();
  counters_["rebalances"] += broker.generations;
  counters_["transactions overdue"] += broker.transactions_overdue;
  counters_["transactions ended by a late request"] += broker.late_hits;
  counters_["committed offsets unstable"] += broker.unstable_answers;
  counters_["calls fenced"] += broker.fenced;
  counters_["virtual seconds"] += static_cast<std::uint64_t>(time_.passed().value() / 1'000);
  ++counters_["worlds"];
}

}  // namespace reseq::simulation
