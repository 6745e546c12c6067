#include "tests/chaos/run/run.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "config/settings.h"
#include "kafka/admin.h"
#include "tests/chaos/nemesis/nemesis.h"
#include "tests/chaos/run/choices.h"
#include "tests/chaos/run/final_acts.h"
#include "tests/chaos/run/hunters.h"
#include "tests/chaos/run/progress_watch.h"
#include "tests/chaos/run/topics.h"
#include "tests/chaos/run/unfinished_watch.h"
#include "tests/chaos/workload/drain.h"
#include "tests/chaos/workload/plan.h"
#include "tests/chaos/workload/planned_specification.h"
#include "tests/chaos/workload/producers.h"
#include "tests/judge/judge.h"
#include "tests/support/good.h"

namespace reseq::chaos {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kResequencers = 3;
constexpr int kGuests = 2;
constexpr int kPipelines = 2;
constexpr int kPartitions = 4;
constexpr milliseconds kBeat{10};
constexpr seconds kHealLimit{90};
constexpr Milliseconds kAcknowledgeLimit{120'000};
constexpr seconds kDrainLimit{180};
// What waits may wait for a lease and for back-offs, or for a time-out of its lane, one behind the other.
constexpr seconds kUnfinishedDrainLimit{600};
constexpr std::uint64_t kBacklogPerSecond = 2'000;
constexpr seconds kCountLimit{60};
constexpr seconds kStopLimit{30};
// After everything is healed each partition goes on within the sum of these, as if one began when the other is over:
// what a dead process had open is given up: its place in the group, and its transactions at the next sweep;
constexpr seconds kGivenUp = std::chrono::ceil<seconds>(std::max(kSessionTimeout, kTransactionTimeout + kSweepEvery));
// a client that could not connect for long tries again (librdkafka's reconnect.backoff.max.ms);
constexpr seconds kConnected{10};
// the group shares its partitions out, and a takeover makes its steps (what a takeover may take beside all else);
constexpr seconds kTakenOver{3};
// and at worst one process restores the whole changelog. It does 250,000 rows/s on a machine of its own; here brokers
// and seven processes share two cores with it.
constexpr std::int64_t kRestoredPerSecond = 50'000;

seconds stall_after_heal_max(std::int64_t changelog_records) {
  return kGivenUp + kConnected + kTakenOver + seconds(1 + changelog_records / kRestoredPerSecond);
}

// Faults come and go: none lasts longer than 32 s, so that no partition can be held for so long.
constexpr seconds kStallUnderFaultsMax{180};

using test::good;

class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options),
        kinds_(choose_kinds(options)),
        acts_(choose_acts(options)),
        chronicle_((std::filesystem::create_directories(options.folder), options.folder + "/faults.log")),
        cluster_({.brokers = options.brokers,
                  .folder = options.folder + "/kafka",
                  .seed = options.seed,
                  .properties = {{"transaction.abort.timed.out.transaction.cleanup.interval.ms",
                                  std::to_string(kSweepEvery.count())}}}),
        site_({.folder = options.folder,
               .application_id = "chaos",
               .bootstrap_servers = cluster_.bootstrap_servers(),
               .brokers = options.brokers,
               .partitions = kPartitions,
               .targets_toml = targets_toml(),
               .program = options.program,
               .journal = options.journal,
               .orders = options.orders}),
        failpoints_(choose_points(options), options.seed),
        operator_(site_, chronicle_),
        draw_(options.seed),
        crew_(chronicle_) {}

  RunReport play();

 private:
  void hire();
  void pile_up();
  void wait_until_requests_are_read(Drain& questions);
  [[nodiscard]] std::optional<Unfinished> ask_unfinished(seconds limit);
  void wait_until_nothing_is_unfinished(Drain& questions);
  void disturb();
  void heal();
  void wait_for_operator();
  [[nodiscard]] std::int64_t changelog_records();
  void drain();
  void wait_until_drained(Drain& questions);
  void stop_all();
  void judge();
  void play_final_acts();
  void live(milliseconds time);
  void tell_of_markers();
  void watch_progress(seconds most, seconds& longest);
  void watch_after_heal() { watch_progress(stall_after_heal_max_, stall_after_heal_); }
  [[nodiscard]] std::string details() const;

  RunOptions options_;
  std::vector<FaultKind> kinds_;
  std::vector<FinalAct> acts_;
  Chronicle chronicle_;
  Cluster cluster_;
  Site site_;
  Failpoints failpoints_;
  Operator operator_;
  simulation::Draw draw_;
  Crew crew_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Producers> producers_;
  std::unique_ptr<ProgressWatch> progress_;
  seconds stall_under_faults_{0};
  seconds stall_after_heal_{0};
  seconds stall_after_heal_max_{0};
  RunReport report_;
  std::map<std::string_view, std::uint64_t> by_kind_;
  std::uint64_t in_vain_ = 0;
};

void Run::hire() {
  const auto resequencer = [&](Job job, const std::string& name) {
    Member& member = crew_.add(job, site_.resequencer(name, name), site_.host(name), site_.instance_folder(name));
    // A start takes the time as confirmed: a host that is far ahead is put right before (host_faults.cpp).
    member.process->set_before_start([host = member.host.get()] {
      if (host->clock_shift() > kClockJumpMax) host->shift_clock(seconds(0));
    });
    return &member;
  };
  for (int i = 1; i <= kResequencers; ++i) resequencer(Job::kResequencer, "r" + std::to_string(i));
  for (int i = 1; i <= kGuests; ++i) resequencer(Job::kGuest, "g" + std::to_string(i))->process->hold();
  for (int i = 1; i <= kPipelines; ++i) {
    const std::string name = "p" + std::to_string(i);
    std::vector<std::string> argv = {test::program("reseq-chaos-pipeline"),
                                     "--bootstrap-servers",
                                     site_.settings().bootstrap_servers,
                                     "--application",
                                     "chaos",
                                     "--seed",
                                     std::to_string(options_.seed)};
    // Both modes of workers, side by side.
    if (options_.journal && i == kPipelines) argv.emplace_back("--commit-on-receipt");
    Member& member = crew_.add(
        Job::kPipeline, {.name = name, .argv = std::move(argv), .environment = {}, .log_file = site_.log_file(name)},
        nullptr, "");
    if (options_.backlog > 0) member.process->hold();
  }
}

std::optional<Unfinished> Run::ask_unfinished(seconds limit) {
  UnfinishedWatch watch(operator_);
  const auto until = Clock::now() + limit;
  while (Clock::now() < until) {
    watch.ask();
    live(kBeat);
    watch_progress(kStallUnderFaultsMax, stall_under_faults_);
    if (const auto found = watch.take()) return found;
  }
  return std::nullopt;
}

void Run::wait_until_requests_are_read(Drain& questions) {
  const auto until = Clock::now() + kDrainLimit;
  for (std::string waits = "an answer"; !waits.empty() && Clock::now() < until;) {
    live(milliseconds(500));
    const auto asked = questions.requests_wait();
    waits = asked ? asked.value() : asked.error().message;
  }
}

// Requests come and nobody works. Then workers come.
void Run::pile_up() {
  if (options_.backlog == 0) return;
  producers_->set_pace(kBacklogPerSecond);
  while (producers_->total() < options_.backlog) {
    live(kBeat);
    watch_progress(kStallUnderFaultsMax, stall_under_faults_);
  }
  producers_->rest(true);
  const auto questions =
      good(Drain::open(connection_to(site_.settings().bootstrap_servers), site_.settings().application_id));
  wait_until_requests_are_read(*questions);
  const auto found = ask_unfinished(kCountLimit);
  if (!found) chronicle_.violation("nobody says how many documents wait");
  report_.waited = found ? found->waiting : 0;
  chronicle_.note("piled up requests=" + std::to_string(producers_->total()) +
                  " documents=" + std::to_string(report_.waited));
  producers_->set_pace(options_.rate);
  producers_->rest(false);
  for (Member* member : crew_.all(Job::kPipeline)) member->process->release();
}

void Run::tell_of_markers() {
  const MarkerNews news = cluster_.take_news();
  for (const std::string& line : news.healed) chronicle_.note(line);
  for (const std::string& line : news.wrong) chronicle_.violation(line);
}

void Run::live(milliseconds time) {
  const auto until = Clock::now() + time;
  do {
    crew_.step();
    operator_.step();
    cluster_.tend();
    tell_of_markers();
    std::this_thread::sleep_for(kBeat);
  } while (Clock::now() < until);
}

// One violation for each stall.
void Run::watch_progress(seconds most, seconds& longest) {
  const Stall stall = progress_->now();
  const auto lasts = std::chrono::floor<seconds>(stall.lasts);
  longest = std::max(longest, lasts);
  if (stall.lasts <= most) return;
  std::string what = stall.unanswered > most
                         ? "no broker has said how far partitions are read for " + std::to_string(lasts.count()) + " s"
                         : "partition " + std::to_string(stall.partition) + " has not been read on for " +
                               std::to_string(lasts.count()) + " s";
  for (const std::string& line : crew_.parked()) what += "\n  " + line;
  chronicle_.violation(what);
  progress_->begin_anew();
}

void Run::disturb() {
  const auto length = milliseconds(static_cast<std::int64_t>(options_.minutes * 60'000));
  const auto until = Clock::now() + length;
  Scene scene{chronicle_,  crew_,     cluster_, site_,
              failpoints_, operator_, draw_,    [this](bool rests) { producers_->rest(rests); }};
  if (options_.kills_per_failpoint > 0) {
    Hunters hunters(scene, options_.kills_per_failpoint);
    while (!hunters.done()) {
      hunters.step();
      live(kBeat);
      watch_progress(kStallUnderFaultsMax, stall_under_faults_);
    }
    hunters.end();
    report_.faults = failpoints_.deaths();
    report_.minutes = std::chrono::duration<double, std::ratio<60>>(Clock::now() + length - until).count();
    if (failpoints_.fewest() < options_.kills_per_failpoint)
      chronicle_.violation("a failpoint was not reached often enough:\n" + failpoints_.table());
    return;
  }
  Nemesis nemesis(chronicle_, kinds_,
                  kinds_.empty() ? std::vector<Planned>() : draw_schedule(options_.seed, length, kinds_),
                  [&scene](const FaultKind& kind, simulation::Draw& draw) {
                    Scene its{scene.chronicle,  scene.crew,    scene.cluster, scene.site,
                              scene.failpoints, scene.on_call, draw,          scene.rest};
                    return kind.begin(its);
                  });
  live(seconds(3));
  while (Clock::now() < until + seconds(3)) {
    nemesis.step();
    live(kBeat);
    watch_progress(kStallUnderFaultsMax, stall_under_faults_);
  }
  nemesis.heal_all();
  report_.faults = nemesis.faults();
  report_.minutes = options_.minutes;
  by_kind_ = nemesis.by_kind();
  in_vain_ = nemesis.in_vain();
}

std::int64_t Run::changelog_records() {
  const auto admin = good(kafka::Admin::open(connection_to(site_.settings().bootstrap_servers)));
  std::int64_t records = 0;
  const auto ends = admin->stable_ends("chaos.changelog", kAdminLimit);
  if (!ends) chronicle_.violation("nobody says how long the changelog is: " + ends.error().message);
  if (ends)
    for (const kafka::PlainOffset& end : ends.value()) records += end.offset.value();
  return records;
}

void Run::heal() {
  auto healed = std::async(std::launch::async, [this] { return cluster_.heal(kHealLimit); });
  while (healed.wait_for(kBeat) != std::future_status::ready) crew_.step();  // the cluster is not ours meanwhile
  if (!healed.get()) chronicle_.violation("the brokers did not become healthy");
  tell_of_markers();
  cluster_.proxy().clear();
  for (Member* member : crew_.all(Job::kResequencer)) member->process->resume();
  const std::int64_t records = changelog_records();
  stall_after_heal_max_ = stall_after_heal_max(records);
  wait_for_operator();
  chronicle_.note("healed changelog_records=" + std::to_string(records) +
                  " stall_max_s=" + std::to_string(stall_after_heal_max_.count()));
  progress_->begin_anew();
}

// Nothing stays paused.
void Run::wait_for_operator() {
  const auto until = Clock::now() + kHealLimit;
  while (!operator_.idle() && Clock::now() < until) live(kBeat);
  if (!operator_.idle()) chronicle_.violation("operations are not confirmed");
}

void Run::wait_until_drained(Drain& questions) {
  const auto until = Clock::now() + kDrainLimit;
  std::string waits = "an answer";
  while (!waits.empty() && Clock::now() < until) {
    live(milliseconds(500));
    watch_after_heal();
    const auto asked = questions.waits_for();
    waits = asked ? asked.value() : asked.error().message;
  }
  if (waits.empty()) return chronicle_.note("drained");
  std::string what = "it does not come to rest: " + waits;
  for (const std::string& line : crew_.parked()) what += "\n  " + line;
  chronicle_.violation(what);
}

// All requests are decided, so nothing new comes: as long as there is less of it, it goes on.
void Run::wait_until_nothing_is_unfinished(Drain& questions) {
  auto until = Clock::now() + kUnfinishedDrainLimit;
  std::uint64_t fewest = UINT64_MAX;
  std::string waits = "an answer";
  while (!waits.empty() && Clock::now() < until) {
    live(milliseconds(500));
    watch_after_heal();
    const auto read = questions.requests_wait();
    waits = read ? read.value() : read.error().message;
    if (!waits.empty()) continue;
    const auto found = ask_unfinished(kCountLimit);
    const std::uint64_t left = found ? found->all() : UINT64_MAX;
    if (!found) waits = "an answer";
    if (left < fewest) until = Clock::now() + kUnfinishedDrainLimit;
    fewest = std::min(fewest, left);
    if (found && left > 0)
      waits = std::to_string(left - found->places) + " documents wait or are under way, lanes have " +
              std::to_string(found->places) + " places";
  }
  if (!waits.empty()) chronicle_.violation("what waits does not come to rest: " + waits);
}

void Run::drain() {
  auto stopped = std::async(std::launch::async, [this] { return producers_->stop(kAcknowledgeLimit); });
  while (stopped.wait_for(seconds(0)) != std::future_status::ready) {
    live(kBeat);
    watch_after_heal();
  }
  if (const auto acknowledged = stopped.get(); !acknowledged)
    chronicle_.violation("producers: " + acknowledged.error().message);
  chronicle_.note("producers stopped requests=" + std::to_string(producers_->total()));
  const auto questions =
      good(Drain::open(connection_to(site_.settings().bootstrap_servers), site_.settings().application_id));
  if (options_.journal || options_.orders) wait_until_nothing_is_unfinished(*questions);
  wait_until_drained(*questions);
  if (!chronicle_.violations().empty()) return;
  // What a process of the pipeline had in flight may be written until it has ended.
  for (Member* member : crew_.all(Job::kPipeline)) {
    member->process->hold();
    member->process->stop(kStopLimit);
  }
  wait_until_drained(*questions);
}

void Run::stop_all() {
  for (const std::string& line : crew_.parked()) chronicle_.violation("parked in the end: " + line);
  for (const auto& member : crew_.members()) {
    member->process->hold();
    member->process->terminate();
  }
  const auto runs = [&] {
    return std::any_of(crew_.members().begin(), crew_.members().end(),
                       [](const auto& member) { return member->process->running(); });
  };
  const auto until = Clock::now() + kStopLimit;
  while (runs() && Clock::now() < until) live(kBeat);
  for (const auto& member : crew_.members()) {
    if (!member->process->running()) continue;
    chronicle_.violation(member->process->name() + " did not end after SIGTERM");
    member->process->kill();
  }
}

void Run::judge() {
  judge::Case which;
  which.settings = good(config::load(site_.config_file("r1")));
  for (const auto& member : crew_.members())
    if (!member->folder.empty() && std::filesystem::exists(member->folder))
      which.instance_folders.push_back(member->folder);
  for (const auto& member : crew_.members())
    for (const auto& partitions : {member->exchanged, member->damaged})
      for (const int partition : partitions)
        which.damaged_copies.insert(member->folder + "/" + std::to_string(partition));
  which.scratch_folder = options_.folder + "/scratch";
  const PlannedSpecification specification(plan_->settings());
  const auto judged = judge::judge(which, specification);
  if (!judged) return chronicle_.violation("the judge cannot read: " + judged.error().message);
  const judge::Judgement& found = judged.value();
  report_.records = found.records;
  report_.unchanged = found.unchanged;
  report_.failed = found.failed;
  report_.held = found.held;
  report_.skipped = found.skipped;
  chronicle_.note("judged records=" + std::to_string(found.records) + " batches=" + std::to_string(found.batches) +
                  " unchanged=" + std::to_string(found.unchanged) + " failed=" + std::to_string(found.failed) +
                  " held=" + std::to_string(found.held) + " skipped=" + std::to_string(found.skipped) +
                  " copies=" + std::to_string(found.copies) + " distrusted=" + std::to_string(found.distrusted) +
                  " damaged=" + std::to_string(found.excused) + " violations=" + std::to_string(found.violations));
  for (const std::string& line : found.lines) chronicle_.violation(line);
}

void Run::play_final_acts() {
  if (acts_.empty() || !chronicle_.violations().empty()) return;
  Aftermath after(chronicle_, crew_, site_, connection_to(site_.settings().bootstrap_servers));
  for (const FinalAct& act : acts_) {
    chronicle_.note("begin " + std::string(act.name));
    std::vector<std::uint64_t> excuses;
    for (const std::string_view reason : act.parks)
      excuses.push_back(chronicle_.excuse({" parked reason=" + std::string(reason) + " "}));
    act.play(after);
    for (const std::uint64_t excuse : excuses) chronicle_.end_excuse(excuse);
    chronicle_.note("end   " + std::string(act.name));
    ++report_.faults;
    ++by_kind_[act.name];
  }
}

std::string Run::details() const {
  const CrewCounts& counts = crew_.counts();
  std::string text;
  for (const auto& [name, count] : by_kind_) text += "fault " + std::string(name) + "=" + std::to_string(count) + "\n";
  text += "faults_in_vain=" + std::to_string(in_vain_) + "\n";
  for (const auto& [name, count] : counts.recoveries) text += "recovery " + name + "=" + std::to_string(count) + "\n";
  for (const auto& [name, count] : counts.transactions)
    text += "transactions " + name + "=" + std::to_string(count) + "\n";
  text += "largest memory_mib=" + std::to_string(counts.largest.memory_bytes >> 20U) +
          " descriptors=" + std::to_string(counts.largest.descriptors) +
          " disk_mib=" + std::to_string(counts.largest.disk_bytes >> 20U) + "\n";
  text += "longest_stall under_faults_s=" + std::to_string(stall_under_faults_.count()) +
          " after_heal_s=" + std::to_string(stall_after_heal_.count()) +
          " after_heal_max_s=" + std::to_string(stall_after_heal_max_.count()) + "\n";
  for (const std::string& proof : report_.torn_by_broker) text += "torn by the broker: " + proof + "\n";
  if (options_.backlog > 0) text += "waited documents=" + std::to_string(report_.waited) + "\n";
  return text + failpoints_.table();
}

RunReport Run::play() {
  create_topics(site_, cluster_);
  hire();
  plan_ = std::make_unique<Plan>(
      PlanSettings{.seed = options_.seed, .partitions = kPartitions, .journal = options_.journal});
  producers_ = std::make_unique<Producers>(
      *plan_, ProducersSettings{.connection = connection_to(site_.settings().bootstrap_servers),
                                .application_id = site_.settings().application_id,
                                .requests_per_second = options_.rate});
  progress_ = std::make_unique<ProgressWatch>(connection_to(site_.settings().bootstrap_servers),
                                              site_.settings().application_id, kPartitions);
  pile_up();
  disturb();
  heal();
  drain();
  progress_.reset();
  stop_all();
  judge();
  play_final_acts();
  report_.kills = crew_.counts().kills;
  report_.rebalances = crew_.counts().rebalances;
  report_.violations = chronicle_.violations();
  report_.torn_by_broker = cluster_.torn();
  for (const std::string& proof : report_.torn_by_broker) chronicle_.note("torn by the broker: " + proof);
  report_.details = details();
  return report_;
}

}  // namespace

RunReport run_chaos(const RunOptions& options) {
  return Run(options).play();
}

}  // namespace reseq::chaos
