#include "tests/chaos/nemesis/crew.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "tests/chaos/nemesis/state_damage.h"
#include "tests/e2e/fleet.h"

namespace reseq::chaos {

namespace {

constexpr std::chrono::milliseconds kReadEvery{200};
constexpr std::chrono::seconds kWeighEvery{5};
constexpr int kKilled = 128 + SIGKILL;
constexpr double kListensAfterS = 5;

bool has_any(const std::string& line, std::initializer_list<std::string_view> all) {
  return std::any_of(all.begin(), all.end(),
                     [&](std::string_view words) { return line.find(words) != std::string::npos; });
}

// What no fault excuses.
bool is_bug(const std::string& line) {
  return has_any(line, {"assertion", "Sanitizer", "runtime error:", "terminate called", " level=critical "});
}

// A worker waits for a second, looks round and asks again; librdkafka calls that an error of this request. It gives a
// connection up behind socket.timeout.ms, three seconds here. A broker that is slow for so long is no error: it shares
// its processors with all others.
bool is_slow_broker(const std::string& line) {
  const bool offsets = line.find("Failed to add offsets to transaction on broker") != std::string::npos;
  return (offsets && line.find("Local: Timed out") != std::string::npos) ||
         (line.find(" level=error librdkafka=\"FAIL\"") != std::string::npos &&
          line.find(" request(s) timed out: disconnect ") != std::string::npos);
}

}  // namespace

Member& Crew::add(Job job, ProgramToRun program, std::unique_ptr<Host> host, std::string folder) {
  members_.push_back(
      std::make_unique<Member>(Member{.job = job, .host = std::move(host), .folder = std::move(folder)}));
  Member& member = *members_.back();
  if (member.host)
    for (std::string& one : member.host->environment()) program.environment.push_back(std::move(one));
  member.process =
      std::make_unique<Supervised>(std::move(program), [this, &member](const End& end) { judge_end(member, end); });
  return member;
}

void Crew::step() {
  for (std::size_t i = 0; i < members_.size(); ++i) members_[i]->process->step();
  const auto now = Clock::now();
  if (now - read_at_ < kReadEvery) return;
  read_at_ = now;
  for (const auto& member : members_) read_log(*member);
  if (now - weighed_at_ < kWeighEvery) return;
  weighed_at_ = now;
  weigh();
}

// A process may die of a copy that a fault has damaged, once: it leaves a mark, and the next one has to rebuild it.
bool Crew::died_of_damage(Member& member, const End& end) {
  if (end.code != 128 + SIGSEGV && end.code != 128 + SIGBUS && end.code != 128 + SIGFPE) return false;
  const std::vector<std::string> copies = copies_of(member.folder);
  return std::any_of(copies.begin(), copies.end(), [&](const std::string& copy) {
    const int partition = std::stoi(copy.substr(copy.rfind('/') + 1));
    const bool damaged = member.damaged.contains(partition) || member.exchanged.contains(partition);
    return damaged && std::filesystem::exists(copy + "/poisoned") && member.died_of.insert(partition).second;
  });
}

// What may end a process: we, a failpoint it was armed with, a stop that was asked for, a copy that a fault damaged.
// All else needs an excuse.
void Crew::judge_end(Member& member, const End& end) {
  read_log(member);
  member.parked.clear();
  member.disk_failed = false;
  ++member.ends_with[end.code];
  member.last_end = end;
  const std::string line = "end name=" + end.name + " code=" + std::to_string(end.code) +
                           (end.killed ? " killed" : "") + (end.armed.empty() ? "" : " armed=" + end.armed);
  const bool at_failpoint = !end.armed.empty() && end.code == kKilled;
  if (end.code == kKilled) ++counts_.kills;
  // A program that has only just been started does not listen to SIGTERM yet.
  const bool listens = member.job == Job::kPipeline ? end.lived_s > kListensAfterS : member.ready_at.has_value();
  const bool too_early = end.code == 128 + SIGTERM && !listens;
  const bool stopped = end.terminated && (end.code == EXIT_SUCCESS || too_early);
  const bool expected = end.killed || at_failpoint || stopped || died_of_damage(member, end);
  ++member.ends;
  member.ready_at.reset();
  chronicle_.end_excuse(chronicle_.excuse(kLeaderLost));
  if (expected) {
    chronicle_.note(line);
  } else {
    chronicle_.complain(line + " log=" + member.process->log_file());
  }
}

void Crew::read_log(Member& member) {
  std::ifstream file(member.process->log_file(), std::ios::binary);
  file.seekg(static_cast<std::streamoff>(member.log_read));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    read_line(member, text.substr(begin, end - begin));
    begin = end + 1;
  }
  member.log_read += begin;  // a line that is still being written is read next time
}

void Crew::read_line(Member& member, const std::string& line) {
  member.disk_failed = member.disk_failed || has_any(line, {" checkpoint=failed ", " sync=failed "});
  // What could not be written, however long ago, is not clean when it stops.
  const bool unclean = member.disk_failed && has_any(line, {" state=unclean "});
  // What damage nobody had to notice is met by the next checkpoint at the latest, or by that of the stop.
  const bool damaged = has_any(line, {" checkpoint=failed ", " state=unclean "}) &&
                       member.damaged.contains(std::atoi(test::field(line, "partition")->c_str()));
  if (is_bug(line)) {
    chronicle_.violation(member.process->name() + ": " + line);
  } else if (unclean || damaged || is_slow_broker(line)) {
    chronicle_.note("excused " + member.process->name() + ": " + line);
  } else if (has_any(line, {" level=error "})) {
    chronicle_.complain(member.process->name() + ": " + line);
  }
  if (test::field(line, "start") == "ready") member.ready_at = Clock::now();
  if (test::field(line, "group") == "assigned") ++counts_.rebalances;
  if (test::field(line, "group") == "revoked") member.parked.clear();
  if (const auto ended = test::field(line, "transaction")) ++counts_.transactions[*ended];
  const auto partition = test::field(line, "partition");
  if (!partition) return;
  if (test::field(line, "takeover") == "ready" || test::field(line, "takeover") == "born") {
    ++member.takeovers;
    owned_.insert(std::atoi(partition->c_str()));
  }
  if (test::field(line, "waiting") == "clock_behind") ++member.clock_waits;
  if (line.find(" parked reason=") != std::string::npos) member.parked[std::atoi(partition->c_str())] = line;
  if (test::field(line, "takeover") == "ready") {
    member.exchanged.erase(std::atoi(partition->c_str()));
    const std::string way = test::field(line, "recovery").value_or("");
    if (way == "rebuild") {
      member.damaged.erase(std::atoi(partition->c_str()));
      member.died_of.erase(std::atoi(partition->c_str()));
    }
    ++counts_.recoveries[way == "rebuild" ? way + "/" + test::field(line, "reason").value_or("") : way];
  }
}

void Crew::weigh() {
  for (const auto& member : members_) {
    if (!member->process->running() || member->folder.empty()) continue;
    const Footprint now = footprint_of(member->process->pid(), member->folder);
    counts_.largest.raise_to(now);
    const auto judge = [&](const char* what, std::uint64_t is, std::uint64_t most) {
      if (is > most)
        chronicle_.complain(member->process->name() + " " + what + "=" + std::to_string(is) + " above its bound of " +
                            std::to_string(most));
    };
    judge("memory_bytes", now.memory_bytes, kFootprintMax.memory_bytes);
    judge("descriptors", now.descriptors, kFootprintMax.descriptors);
    judge("disk_bytes", now.disk_bytes, kFootprintMax.disk_bytes);
  }
}

std::vector<Member*> Crew::all(Job job) const {
  std::vector<Member*> found;
  for (const auto& member : members_)
    if (member->job == job) found.push_back(member.get());
  return found;
}

std::vector<std::string> Crew::parked() const {
  std::vector<std::string> lines;
  for (const auto& member : members_)
    for (const auto& [partition, line] : member->parked) lines.push_back(member->process->name() + ": " + line);
  return lines;
}

}  // namespace reseq::chaos
