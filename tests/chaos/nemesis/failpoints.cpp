#include "tests/chaos/nemesis/failpoints.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "tests/chaos/nemesis/site.h"
#include "tests/chaos/nemesis/state_damage.h"

namespace reseq::chaos {

namespace {

constexpr int kAskLimitMs = 10'000;
// A process that was just started is at work after this time.
constexpr double kAtWorkAfterS = 3;
// And has taken over what it was assigned, on a busy host.
constexpr double kTakenOverAfterS = 8;
// Its session is over by then, its transaction is not: the group goes on without it and refuses its offsets.
constexpr std::chrono::milliseconds kPause = kSessionTimeout + std::chrono::milliseconds(1'500);
static_assert(kPause + std::chrono::seconds(2) < kTransactionTimeout);
constexpr std::chrono::seconds kGiveUpAfter{30};
// The file of a backlog is written anew in a quarter of a busy worker's time.
constexpr std::chrono::seconds kGiveUpCompactionAfter{180};
constexpr std::uint64_t kPassesMax = 4;
constexpr const char* kBirth = "takeover.birth";

}  // namespace

Failpoints::Failpoints(std::vector<std::string> names, std::uint64_t seed) : names_(std::move(names)), draw_(seed) {
  for (const std::string& name : names_) kills_[name] = 0;
}

void Failpoints::want(std::uint64_t kills) {
  wanted_ = kills;
  births_wanted_ = kills;
}

bool Failpoints::is_wanted(const std::string& name) const {
  const auto birth = kills_.find(kBirth);
  return name != kBirth || (birth != kills_.end() && birth->second < births_wanted_);
}

std::optional<std::string> Failpoints::next() {
  if (is_wanted(kBirth)) {
    hunted_.insert(kBirth);
    return kBirth;
  }
  if (waiting_.empty()) {
    for (const std::string& name : names_)
      if (name != kBirth && kills_[name] + hunted_.count(name) < wanted_) waiting_.push_back(name);
    for (std::size_t i = waiting_.size(); i > 1; --i) std::swap(waiting_[i - 1], waiting_[draw_.below(i)]);
  }
  if (waiting_.empty()) return std::nullopt;
  std::string name = std::move(waiting_.front());
  waiting_.pop_front();
  hunted_.insert(name);
  return name;
}

void Failpoints::died(const std::string& name) {
  hunted_.erase(hunted_.find(name));
  ++kills_[name];
  ++deaths_;
}

void Failpoints::missed(const std::string& name) {
  hunted_.erase(hunted_.find(name));
  ++misses_[name];
}

void Failpoints::withdrawn(const std::string& name) {
  hunted_.erase(hunted_.find(name));
}

std::uint64_t Failpoints::fewest() const {
  std::uint64_t fewest = UINT64_MAX;
  for (const auto& [name, count] : kills_) fewest = std::min(fewest, count);
  return kills_.empty() ? 0 : fewest;
}

std::string Failpoints::table() const {
  std::string text;
  for (const std::string& name : names_) {
    const auto missed = misses_.find(name);
    text += "failpoint " + name + std::string(28 - std::min<std::size_t>(name.size(), 27), ' ') +
            "kills=" + std::to_string(kills_.at(name)) +
            (missed == misses_.end() ? "" : " not_reached=" + std::to_string(missed->second)) + "\n";
  }
  return text;
}

std::vector<std::string> ask_failpoints(const std::string& program, const std::string& folder) {
  const std::string file = folder + "/failpoints";
  test::Process ask({program, "failpoints"}, file);
  if (ask.wait(kAskLimitMs) != 0) throw std::runtime_error(program + " failpoints: " + ask.tail());
  std::vector<std::string> names;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) names.push_back(line);
  return names;
}

Hunt::Hunt(Failpoints& points, std::string point, Member& member, HuntMeans means, simulation::Draw& draw)
    : points_(points), member_(member), means_(std::move(means)), point_(std::move(point)), need_(need_of(point_)) {
  // What happens once in a life is waited for once; what goes on all the time is met at one of the first passes.
  const std::uint64_t passes = point_.starts_with("transaction.") || point_ == "takeover.restore" ? kPassesMax : 1;
  const std::string count = std::to_string(1 + draw.below(passes));
  plan_ = need_ == Need::kWakeUp ? "transaction.send_offsets:" + count + ":stop," + point_ : point_ + ":" + count;
  what_ = member_.process->name() + " " + plan_;
  // What librdkafka sees of it.
  const std::string name = member_.process->name() + ": ";
  if (need_ == Need::kWakeUp || need_ == Need::kLoseReply) excuse_ = means_.chronicle.excuse({name, kLibraryError});
  begin_life();
}

void Hunt::begin_life() {
  if (member_.process->running()) member_.process->kill();
  member_.process->arm(point_, {"RESEQ_FAILPOINT=" + plan_});
  if (need_ == Need::kPoison) poison_copies(member_.folder);
  if (need_ == Need::kExchange) member_.exchanged.merge(exchange_copies(member_.folder, means_.born));
  ends_before_ = member_.ends;
}

Hunt::Need Hunt::need_of(std::string_view point) {
  if (point.starts_with("wipe.")) return Need::kPoison;
  if (point == "takeover.rebuild") return Need::kExchange;
  if (point.starts_with("stop.")) return Need::kStop;
  if (point == "transaction.abort") return Need::kWakeUp;
  if (point == "recycle") return Need::kLoseReply;
  if (point == "group.revoked") return Need::kGuest;
  return Need::kNothing;
}

void Hunt::step() {
  if (over_) return;
  if (member_.ends > ends_before_) return note_end();
  if (!points_.is_wanted(point_)) return withdraw();
  const bool at_work =
      member_.process->running() && member_.process->lives_s() > (of_copies() ? kTakenOverAfterS : kAtWorkAfterS);
  if (at_work && !provided_) provide();
  if (need_ == Need::kWakeUp) wake_up();
  if (Clock::now() - begun_ > (point_.starts_with("compaction.") ? kGiveUpCompactionAfter : kGiveUpAfter)) give_up();
}

void Hunt::provide() {
  // There was no copy yet of what it was given: there is one now.
  if (of_copies()) return begin_life();
  provided_ = true;
  if (need_ == Need::kStop) member_.process->terminate();
  if (need_ == Need::kLoseReply) rule_ = means_.proxy.add(lose_commit_reply(means_.transactional_ids));
  if (need_ == Need::kGuest && means_.guest.process->held()) {
    means_.guest.process->release();
    guest_runs_ = true;
  }
}

// It stops in front of its offsets. When it goes on it is no member any more, and has to abort.
void Hunt::wake_up() {
  if (!member_.process->paused()) return paused_at_.reset();
  if (!paused_at_) paused_at_ = Clock::now();
  if (Clock::now() - *paused_at_ > kPause) member_.process->resume();
}

void Hunt::note_end() {
  if (member_.last_end.code == 128 + SIGKILL && !member_.last_end.killed) {
    points_.died(point_);
  } else {
    points_.missed(point_);
  }
  finish();
}

void Hunt::give_up() {
  if (over_) return;
  if (member_.ends > ends_before_) return note_end();
  points_.missed(point_);
  disarm();
}

void Hunt::withdraw() {
  points_.withdrawn(point_);
  disarm();
}

void Hunt::disarm() {
  if (member_.process->running()) member_.process->kill();
  member_.process->arm({}, {});
  finish();
}

void Hunt::finish() {
  over_ = true;
  if (excuse_ != 0) means_.chronicle.end_excuse(std::exchange(excuse_, 0));
  if (rule_ != 0) means_.proxy.remove(std::exchange(rule_, 0));
  if (!guest_runs_) return;
  guest_runs_ = false;
  means_.guest.process->hold();
  means_.guest.process->kill();
}

}  // namespace reseq::chaos
