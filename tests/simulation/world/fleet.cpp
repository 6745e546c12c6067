#include "tests/simulation/world/fleet.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/assert.h"

namespace reseq::simulation {

namespace {

constexpr Milliseconds kAskLimit{100};
constexpr int kAskTries = 1000;
constexpr Milliseconds kCloseLimit{2'000};
constexpr std::int64_t kSkewMax = 25'000;
constexpr std::int64_t kSoon = 10'000;  // ms
constexpr std::uint64_t kMapBytes = std::uint64_t{1} << 20U;
constexpr store::CompactionSettings kCompacts = {.file_bytes_min = 1, .times_used = 1, .step_bytes = 3'000};

// Nothing that is done to disks and logs here can cause these.
constexpr std::array kAlarms = {runtime::Rebuild::kPoisoned, runtime::Rebuild::kForeign, runtime::Rebuild::kTruncated,
                                runtime::Rebuild::kLogStart, runtime::Rebuild::kRecord,  runtime::Rebuild::kLineage,
                                runtime::Rebuild::kDigest,   runtime::Rebuild::kFault};

bool takes_over(runtime::Phase phase) {
  return phase != runtime::Phase::kRunning && phase != runtime::Phase::kParked && phase != runtime::Phase::kReady;
}

}  // namespace

Fleet::Fleet(const Scenario& scenario, const Guards& guards, const engine::Gate* gate, VirtualTime& time,
             Broker& broker, std::string root, Counters& counters)
    : scenario_(scenario), guards_(guards), gate_(gate), broker_(broker), root_(std::move(root)), counters_(counters) {
  for (std::size_t i = 0; i < scenario.processes; ++i) {
    const std::int64_t skew = static_cast<std::int64_t>(broker.draw().below(20'000)) - 10'000;
    instances_.emplace_back(time, Milliseconds(scenario.clocks_differ ? skew : 0));
  }
}

Fleet::~Fleet() {
  take_all_down();
}

void Fleet::start(std::size_t i) {
  Instance& instance = instances_[i];
  RESEQ_ASSERT(!runs(i), "a process is started twice");
  config::Settings settings = scenario_.settings;
  settings.instance_id = "p" + std::to_string(i);
  instance.process.paused = false;
  instance.was_paused = false;
  instance.application = std::make_unique<runtime::Application>(settings);
  instance.application->guards = guards_;
  instance.application->gate = gate_;
  instance.shelf = std::make_unique<runtime::Shelf>(
      root_ + "/" + settings.instance_id, "boot-" + std::to_string(instance.boots),
      store::DiskSettings{kMapBytes, scenario_.compacts ? kCompacts : store::CompactionSettings()});
  for (std::size_t w = 0; w < scenario_.workers; ++w) {
    ClientSettings clients;
    clients.topics = instance.application->topics.names();
    clients.transactional_id = "app." + settings.instance_id + "." + std::to_string(w);
    if (scenario_.static_members) clients.group_instance_id = clients.transactional_id;
    clients.recycle_on_doubt = guards_.recycle_on_doubt;
    clients.session_timeout = Milliseconds(settings.session_timeout_ms);
    clients.transaction_timeout = Milliseconds(settings.transaction_timeout_ms);
    auto cluster = std::make_unique<SimulatedCluster>(broker_, instance.process, std::move(clients));
    if (w == 0) ask(*instance.application, *cluster);
    auto worker = std::make_unique<runtime::Worker>(*instance.application, *cluster, instance.clock, *instance.shelf,
                                                    [this] { return draw_key(); });
    instance.members.push_back({std::move(cluster), std::move(worker)});
  }
  ++counters_["processes started"];
}

void Fleet::ask(runtime::Application& application, SimulatedCluster& cluster) {
  for (int i = 0; i < kAskTries; ++i) {
    const auto asked = application.ask(cluster, kAskLimit);
    if (asked) return;
    RESEQ_ASSERT(asked.error().what_to_do != ErrorClass::kInvalid, "the topics of the world do not fit");
  }
  RESEQ_ASSERT(false, "brokers that never answer");
}

HashKey Fleet::draw_key() {
  HashKey key;
  for (std::uint8_t& byte : key.bytes) byte = static_cast<std::uint8_t>(broker_.draw().next());
  return key;
}

void Fleet::kill(std::size_t i) {
  note_crash(instances_[i]);
  ++counters_["processes killed"];
  take_down(instances_[i]);
}

void Fleet::take_down(Instance& instance) {
  for (const Member& member : instance.members) collect(*member.worker);
  instance.members.clear();
  instance.shelf.reset();
  instance.application.reset();
}

void Fleet::stop(std::size_t i) {
  Instance& instance = instances_[i];
  for (const Member& member : instance.members) {
    member.worker->close(kCloseLimit);
    collect(*member.worker);
  }
  instance.members.clear();
  instance.shelf->close_clean();
  instance.shelf.reset();
  instance.application.reset();
  ++counters_["processes stopped cleanly"];
}

void Fleet::note_crash(const Instance& instance) {
  for (const Member& member : instance.members) {
    const runtime::Transaction* transaction = member.worker->transaction();
    if (transaction != nullptr) ++counters_["crash before step " + std::string(name_of(transaction->next()))];
    for (const auto& task : member.worker->tasks())
      if (transaction == nullptr) ++counters_["crash in phase " + std::string(name_of(task->phase()))];
  }
}

void Fleet::collect(const runtime::Worker& worker) {
  const runtime::Totals& totals = worker.totals();
  counters_["transactions committed"] += totals.transactions;
  counters_["transactions aborted"] += totals.aborted;
  counters_["producers recycled"] += totals.recycled;
  counters_["ends asked"] += totals.ends_asked;
  counters_["timers fired"] += totals.timers;
  counters_["watermarks expired"] += totals.expired;
  counters_["checkpoints"] += totals.checkpoints;
  counters_["copies written anew"] += totals.compactions;
  counters_["takeover reuse"] += totals.reuses;
  for (std::size_t i = 1; i < totals.rebuilds.size(); ++i)
    if (totals.rebuilds[i] != 0)
      counters_["takeover rebuild " + std::string(name_of(static_cast<runtime::Rebuild>(i)))] += totals.rebuilds[i];
}

void Fleet::pause(std::size_t i) {
  instances_[i].process.paused = true;
  instances_[i].was_paused = true;
  instances_[i].paused_at_generation = broker_.group().generation();
  ++counters_["processes paused"];
}

void Fleet::resume(std::size_t i) {
  Instance& instance = instances_[i];
  instance.process.paused = false;
  if (broker_.group().generation() == instance.paused_at_generation) return;
  for (const Member& member : instance.members)
    if (!member.worker->tasks().empty())
      ++counters_[member.worker->transaction() != nullptr ? "zombies busy" : "zombies idle"];
}

void Fleet::step(std::size_t i, std::size_t w) {
  Instance& instance = instances_[i];
  if (!runs(i) || instance.process.paused) return;
  runtime::Worker& worker = *instance.members[w].worker;
  const auto stepped = worker.step();
  note_takeover(worker);
  look_for_trouble(instance, worker);
  if (stepped) return;
  ++counters_["workers ended"];
  if (stepped.error().what_to_do != ErrorClass::kFenced && trouble_.empty())
    trouble_ = "a worker ended: " + stepped.error().message;
  take_down(instance);
}

// A process that was paused in the middle of a takeover may have slept through delete.retention.ms, and finds that out
// by the digest: that alarm is no trouble. Where a gate or the journal removes rows all the time one that was slow is
// enough, when they are forgotten within seconds.
void Fleet::look_for_trouble(const Instance& instance, const runtime::Worker& worker) {
  if (!trouble_.empty()) return;
  for (const auto& task : worker.tasks())
    if (task->phase() == runtime::Phase::kParked)
      trouble_ = "partition " + std::to_string(task->partition().value()) + " is parked: " + task->parked_reason();
  const bool forgets_soon = (gate_ != nullptr || scenario_.journal) && scenario_.delete_retention_ms < kSoon;
  for (const runtime::Rebuild alarm : kAlarms)
    if (!instance.was_paused && !forgets_soon && worker.totals().rebuilds[static_cast<std::size_t>(alarm)] != 0)
      trouble_ = "a state was rebuilt (" + std::string(name_of(alarm)) + ") although nothing had damaged it";
}

void Fleet::take_all_down() {
  for (Instance& instance : instances_)
    if (instance.shelf) take_down(instance);
}

void Fleet::note_takeover(const runtime::Worker& worker) {
  const auto changelog = broker_.topic("app.changelog");
  for (const auto& task : worker.tasks()) {
    if (!takes_over(task->phase())) continue;
    const Log& log = broker_.log({*changelog, task->partition()});
    if (log.last_stable() < log.high_watermark())
      ++counters_["takeover beside an open transaction, phase " + std::string(name_of(task->phase()))];
  }
}

bool Fleet::clock_frozen(std::size_t i) const {
  const auto& members = instances_[i].members;
  return std::any_of(members.begin(), members.end(),
                     [](const Member& member) { return member.worker->report().clock_frozen; });
}

void Fleet::step_clock(std::size_t i, Milliseconds by) {
  // Further apart than max_clock_drift_ms partitions park until a person has set the clocks.
  ProcessClock& clock = instances_[i].clock;
  const std::int64_t skew = clock.now().value() - broker_.now().value();
  clock.step(Milliseconds(std::clamp(skew + by.value(), -kSkewMax, kSkewMax) - skew));
  ++counters_["clock steps"];
}

void Fleet::power_loss(std::size_t i) {
  RESEQ_ASSERT(!runs(i), "power loss under a running process");
  ++instances_[i].boots;
  ++counters_["hosts started again"];
}

std::string Fleet::folder(std::size_t i, Partition partition) const {
  return root_ + "/p" + std::to_string(i) + "/" + std::to_string(partition.value());
}

void Fleet::lose_copy(std::size_t i, Partition partition) {
  RESEQ_ASSERT(!runs(i), "a copy is lost under a running process");
  if (std::filesystem::remove_all(folder(i, partition)) > 0) ++counters_["copies lost"];
}

void Fleet::damage_copy(std::size_t i, Partition partition) {
  RESEQ_ASSERT(!runs(i), "a copy is damaged under a running process");
  const std::filesystem::path file = folder(i, partition) + "/data.mdb";
  std::error_code none;
  const auto size = std::filesystem::file_size(file, none);
  if (none || size == 0) return;
  std::filesystem::resize_file(file, size / 2);
  ++counters_["copies cut short"];
}

bool Fleet::settled() const {
  std::vector<int> owners(static_cast<std::size_t>(scenario_.partitions));
  for (const Instance& instance : instances_)
    for (const Member& member : instance.members)
      for (const auto& task : member.worker->tasks())
        if (task->phase() == runtime::Phase::kRunning) ++owners[static_cast<std::size_t>(task->partition().value())];
  // A member that was not told yet that it lost one is an owner too many.
  if (std::any_of(owners.begin(), owners.end(), [](int count) { return count != 1; })) return false;
  for (const Instance& instance : instances_)
    for (const Member& member : instance.members)
      if (member.worker->transaction() != nullptr) return false;
  return true;
}

const runtime::PartitionTask* Fleet::owner(Partition partition) const {
  for (const Instance& instance : instances_)
    for (const Member& member : instance.members)
      for (const auto& task : member.worker->tasks())
        if (task->partition() == partition && task->phase() == runtime::Phase::kRunning) return task.get();
  return nullptr;
}

std::string Fleet::describe() const {
  std::string text;
  for (std::size_t i = 0; i < size(); ++i) {
    text += "process " + std::to_string(i) + (runs(i) ? paused(i) ? " paused" : " runs" : " down");
    for (const Member& member : instances_[i].members) {
      text += "; worker";
      if (member.worker->transaction() != nullptr)
        text += " before " + std::string(name_of(member.worker->transaction()->next()));
      for (const auto& task : member.worker->tasks())
        text += " " + std::to_string(task->partition().value()) + "=" + std::string(name_of(task->phase()));
    }
    text += "\n";
  }
  return text;
}

}  // namespace reseq::simulation
