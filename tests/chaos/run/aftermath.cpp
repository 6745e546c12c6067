#include "tests/chaos/run/aftermath.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "kafka/plain_producer.h"
#include "tests/chaos/nemesis/state_damage.h"
#include "tests/chaos/run/topics.h"
#include "tests/support/good.h"

namespace reseq::chaos {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kLimit{60};
constexpr std::chrono::milliseconds kLookEvery{20};
constexpr int kRefusedExit = 78;  // EX_CONFIG
constexpr std::array<const char*, 4> kWritten = {"changelog", "work", "events", "dead-letter"};

using test::good;

std::string bytes_of(const std::string& file) {
  std::ifstream bytes(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(bytes), std::istreambuf_iterator<char>()};
}

}  // namespace

Aftermath::Aftermath(Chronicle& chronicle, Crew& crew, const Site& site, const kafka::Connection& connection)
    : chronicle_(chronicle),
      crew_(crew),
      site_(site),
      connection_(connection),
      tools_(site.settings().bootstrap_servers),
      admin_(good(kafka::Admin::open(connection))) {}

std::string Aftermath::topic(const std::string& role) const {
  return application() + "." + role;
}

std::set<int> Aftermath::partitions() const {
  std::set<int> all;
  for (int partition = 0; partition < site_.settings().partitions; ++partition) all.insert(partition);
  return all;
}

void Aftermath::send(const std::string& role, int partition, int records) {
  const auto producer = good(kafka::PlainProducer::open(connection_));
  for (int i = 0; i < records; ++i) good(producer->send(topic(role), "late", "x", {}, {}, Partition(partition)));
  good(producer->flush(kAdminLimit));
}

void Aftermath::delete_changelog() {
  const std::string name = topic("changelog");
  good(admin_->delete_topics({&name, 1}, kAdminLimit));
}

void Aftermath::command(std::vector<std::string> subcommand) {
  const std::string name = subcommand.front();
  subcommand.insert(subcommand.begin(), test::program("resequencer"));
  subcommand.insert(subcommand.end(), {"--config", site_.config_file("r1")});
  test::Process process(subcommand, site_.log_file(name));
  if (const int code = process.wait(static_cast<int>(kAdminLimit.value())); code != 0)
    chronicle_.violation("resequencer " + name + " ended with " + std::to_string(code) + ": " + process.tail());
}

void Aftermath::begin_anew() {
  delete_changelog();
  tools_.delete_group(application());
  command({"init"});
  for (const Member* member : crew_.all(Job::kResequencer)) fs::remove_all(member->folder);
}

// The ends of a topic move with every transaction that has touched it, also with one that was aborted.
std::map<std::string, std::string> Aftermath::look() const {
  std::map<std::string, std::string> found;
  for (const char* role : kWritten) {
    const auto ends = admin_->stable_ends(topic(role), kAdminLimit);
    if (!ends) continue;  // deleted
    for (const auto& end : ends.value())
      if (remembered_.contains(end.partition.value()))
        found[end.topic + " partition " + std::to_string(end.partition.value())] = std::to_string(end.offset.value());
  }
  for (const Member* member : crew_.all(Job::kResequencer))
    for (const int partition : remembered_) {
      const std::string file = member->folder + "/" + std::to_string(partition) + "/data.mdb";
      if (fs::exists(file)) found[file] = bytes_of(file);
    }
  return found;
}

void Aftermath::remember(const std::set<int>& partitions) {
  remembered_ = partitions;
  before_ = look();
}

void Aftermath::expect_untouched() {
  const auto now = look();
  for (const auto& [place, what] : before_) {
    const auto found = now.find(place);
    if (found == now.end()) {
      chronicle_.violation(place + " is gone");
    } else if (found->second != what) {
      chronicle_.violation(place + " was written");
    }
  }
}

void Aftermath::start() {
  for (Member* member : crew_.all(Job::kResequencer)) {
    const std::string& log = member->process->log_file();
    began_at_[member] = fs::exists(log) ? fs::file_size(log) : 0;
    ends_before_[member] = member->ends;
    member->process->release();
  }
}

void Aftermath::stop() {
  const auto all = crew_.all(Job::kResequencer);
  for (Member* member : all) {
    member->process->hold();
    member->process->terminate();
  }
  const bool ended = wait(
      [&] { return std::none_of(all.begin(), all.end(), [](const Member* one) { return one->process->running(); }); });
  if (!ended) chronicle_.violation("a process did not end after SIGTERM");
  for (Member* member : all) member->process->kill();
}

bool Aftermath::wait(const std::function<bool()>& condition) {
  const auto until = Clock::now() + kLimit;
  while (!condition()) {
    if (Clock::now() > until) return false;
    crew_.step();
    std::this_thread::sleep_for(kLookEvery);
  }
  return true;
}

std::string Aftermath::said(const Member& member) const {
  const std::string log = bytes_of(member.process->log_file());
  return log.substr(std::min<std::size_t>(log.size(), began_at_.at(&member)));
}

bool Aftermath::says(int partition, const std::vector<std::string>& words) const {
  const std::string name = " partition=" + std::to_string(partition) + " ";
  for (const Member* member : crew_.all(Job::kResequencer)) {
    const std::string log = said(*member);
    for (std::size_t at = log.find(name); at != std::string::npos; at = log.find(name, at + 1)) {
      const std::string line = log.substr(at, log.find('\n', at) - at);
      if (std::any_of(words.begin(), words.end(),
                      [&](const std::string& word) { return line.find(word) != std::string::npos; }))
        return true;
    }
  }
  return false;
}

void Aftermath::expect_each_says(const std::set<int>& partitions, const std::vector<std::string>& words) {
  std::set<int> missing = partitions;
  (void)wait([&] {
    std::erase_if(missing, [&](int partition) { return says(partition, words); });
    return missing.empty();
  });
  for (const int partition : missing)
    chronicle_.violation("nobody says of partition " + std::to_string(partition) + ": " + words.front());
}

void Aftermath::expect_refused(const std::string& words) {
  const std::uint64_t excuse = chronicle_.excuse({"end name=", " code=" + std::to_string(kRefusedExit)});
  start();
  const auto all = crew_.all(Job::kResequencer);
  (void)wait([&] {
    return std::all_of(all.begin(), all.end(), [&](const Member* one) { return one->ends > ends_before_.at(one); });
  });
  for (Member* member : all) {
    const bool refused = member->ends > ends_before_.at(member) && member->last_end.code == kRefusedExit;
    member->process->hold();
    member->process->kill();
    if (!refused || said(*member).find(words) == std::string::npos)
      chronicle_.violation(member->process->name() + " was not refused with: " + words);
  }
  chronicle_.end_excuse(excuse);
}

}  // namespace reseq::chaos
