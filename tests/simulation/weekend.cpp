#include "tests/simulation/weekend.h"

#include <algorithm>
#include <charconv>
#include <gtest/gtest.h>

#include "codec/header_names.h"

namespace reseq::runtime {

namespace header = codec::header;

namespace {

constexpr std::int64_t kBusyMs = 5;            // from one step to the next while there is something to do
constexpr std::int64_t kBrokerTickMs = 4'000;  // below every session time-out: a client sends its heartbeats meanwhile
constexpr int kQuietSteps = 6;                 // without a transaction, until there is nothing to do

std::string name_of(std::size_t document) {
  return "document-" + std::to_string(document);
}

std::uint64_t number_in(const simulation::StoredRecord& record, std::string_view name, std::uint64_t absent = 0) {
  std::uint64_t number = absent;
  for (const simulation::StoredHeader& one : record.headers)
    if (one.name == name && one.value)
      std::from_chars(one.value->data(), one.value->data() + one.value->size(), number);
  return number;
}

template <typename Visit>
void each_committed(const simulation::Log& log, const Visit& visit) {
  for (const auto* entry = log.next_committed(Offset(0)); entry != nullptr;
       entry = log.next_committed(Offset(entry->offset.value() + 1)))
    visit(*entry->record);
}

}  // namespace

// The changelog keeps tombstones for so long that hardly anything is written while nothing happens.
Weekend::Weekend(const config::Settings& settings) : SimulatedApplication(1, settings) {
  broker.facts(*broker.topic("app.changelog")).delete_retention_ms = 24 * kHourMs;
  test::good(application.ask(*kafka, simulation::kLimit));
}

config::Settings Weekend::of_journal(std::int64_t in_flight_max) {
  config::Settings settings = of_one_target();
  settings.dispatch_mode = "journal";
  settings.dispatch_in_flight_max = in_flight_max;
  return settings;
}

void Weekend::start(const Application* as) {
  worker.reset();  // killed
  worker = std::make_unique<Worker>(as != nullptr ? *as : application, *kafka, clock, shelf, [] { return HashKey{}; });
  const auto runs = [&] { return !worker->tasks().empty() && worker->tasks().front()->phase() == Phase::kRunning; };
  for (int i = 0; i < 1'000'000 && !runs(); ++i) {
    test::good(worker->step());
    ticks(1, kBusyMs);
  }
  ASSERT_TRUE(runs()) << "it does not take over";
}

void Weekend::request(std::size_t document, const std::vector<simulation::StoredHeader>& wishes) {
  if (newest_.size() <= document) newest_.resize(document + 1);
  std::vector<simulation::StoredHeader> headers = {{"reseq-seq", std::to_string(++newest_[document])}};
  headers.insert(headers.end(), wishes.begin(), wishes.end());
  broker.append({*broker.topic("app.requests"), Partition(0)}, {name_of(document), "{}", headers, broker.now()});
}

void Weekend::heartbeat(std::size_t document) {
  broker.append({*broker.topic("app.commands"), Partition(0)},
                {name_of(document),
                 std::nullopt,
                 {{"reseq-command", "heartbeat"}, {"reseq-seq", std::to_string(newest_[document])}},
                 broker.now()});
}

void Weekend::step() {
  test::good(worker->step());
  work();
  ++steps_;
  quiet_steps_ = worker->transaction() == nullptr ? quiet_steps_ + 1 : 0;
  pass(quiet_steps_ < kQuietSteps ? kBusyMs : idle_ms);
}

void Weekend::pass(std::int64_t ms) {
  for (std::int64_t left = ms; left > 0; left -= kBrokerTickMs) ticks(1, std::min(left, kBrokerTickMs));
}

void Weekend::work() {
  const std::int64_t now = broker.now().value();
  free_at_ = std::max(free_at_, now - idle_ms);  // what it could have done since the last look
  while (pipeline.works && free_at_ <= now) {
    const simulation::Entry* entry = log("work").next_committed(next_work_);
    if (entry == nullptr) return;
    next_work_ = Offset(entry->offset.value() + 1);
    simulation::StoredRecord record = *entry->record;
    const std::uint64_t lease_until = number_in(record, header::kLeaseUntil);
    if (pipeline.heeds_leases && lease_until != 0 && lease_until <= static_cast<std::uint64_t>(now)) continue;
    free_at_ += pipeline.takes_ms;
    if (pipeline.loses_each != 0 && lease_until != 0 && number_in(record, header::kAttempt, 1) == 1 &&
        number_in(record, header::kSeq) % pipeline.loses_each == 0)
      continue;
    record.headers.push_back({std::string(header::kCommand), "sequence"});
    record.headers.push_back({std::string(header::kTarget), "search"});
    record.timestamp = broker.now();
    broker.append({*broker.topic("app.commands"), Partition(0)}, std::move(record));
    quiet_steps_ = 0;
  }
}

void Weekend::live(std::int64_t ms) {
  for (const std::int64_t until = broker.now().value() + ms; broker.now().value() < until;) step();
}

std::uint64_t Weekend::count(Count which) const {
  return worker->tasks().front()->store().summary().counts[which];
}

bool Weekend::at_rest() {
  return count(Count::kWaiting) + count(Count::kProcessing) + count(Count::kLiveRows) == 0 &&
         log("work").next_committed(next_work_) == nullptr && quiet_steps_ >= kQuietSteps;
}

bool Weekend::drains(std::int64_t within_ms) {
  const std::int64_t until = broker.now().value() + within_ms;
  while (!at_rest() && broker.now().value() < until) step();
  return at_rest();
}

Weekend::Dispatches Weekend::dispatches() {
  Dispatches found;
  each_committed(log("work"), [&](const simulation::StoredRecord& record) {
    const auto attempt = static_cast<std::uint32_t>(number_in(record, header::kAttempt, 1));
    ++found.all;
    found.highest_attempt = std::max(found.highest_attempt, attempt);
    found.beyond_first += attempt > 1 ? 1U : 0U;
  });
  return found;
}

std::map<std::string, Weekend::Outcome> Weekend::outcomes() {
  std::map<std::string, Outcome> found;
  for (std::size_t i = 0; i < newest_.size(); ++i) found[name_of(i)].asked = newest_[i];
  each_committed(log("output.search"), [&](const simulation::StoredRecord& record) {
    Outcome& one = found[record.key.value_or("")];
    const std::uint64_t order = number_in(record, header::kSeq);
    EXPECT_GT(order, one.released) << *record.key << " was released twice at an order, or at an older one";
    one.released = order;
    ++one.releases;
  });
  return found;
}

std::size_t Weekend::dead_letters() {
  std::size_t letters = 0;
  each_committed(log("dead-letter"), [&](const simulation::StoredRecord&) { ++letters; });
  return letters;
}

}  // namespace reseq::runtime
