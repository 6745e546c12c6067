#include "tests/e2e/resequencer_run.h"

#include <chrono>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "kafka/librdkafka_cluster.h"
#include "tests/support/good.h"

namespace reseq::test {

namespace {

constexpr Milliseconds kAskLimit{10'000};
constexpr int kInitLimitMs = 300'000;  // 4500 partitions took a minute and more on a slow disk

// Asks again while the answer may change by itself: topics are new, leaders move.
template <typename Ask>
auto answer(const Ask& ask) {
  for (int tries = 0;; ++tries) {
    auto result = ask();
    if (result || tries == 50 || result.error().what_to_do == ErrorClass::kInvalid) return good(std::move(result));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

ResequencerRun::ResequencerRun(std::string bootstrap_servers, std::string application_id,
                               std::vector<std::string> targets, const std::string& more_toml)
    : application_id_(std::move(application_id)), targets_(std::move(targets)), more_toml_(more_toml) {
  connection_.bootstrap_servers = std::move(bootstrap_servers);
  create_topics();
  admin_ = good(kafka::Admin::open(connection_));
  kafka::ClusterSettings settings;
  settings.connection = connection_;
  settings.topics = {topic("changelog")};
  settings.group_id = application_id_ + ".watcher";
  settings.transactional_id = application_id_ + ".watcher";
  watcher_cluster_ = good(kafka::open_cluster(settings));
  watcher_ = good(watcher_cluster_->log_reader());
}

// One at a time: many topics at once take a small broker longer than the program waits.
void ResequencerRun::create_topics() {
  static std::mutex one;
  const std::lock_guard lock(one);
  Process init({program("resequencer"), "init", "--config", config_file(0)}, directory_.path() + "/init.log");
  if (init.wait(kInitLimitMs) != 0) throw std::runtime_error("init failed: " + init.tail());
}

void ResequencerRun::make_anew(const std::string& role) {
  const std::string name = topic(role);
  good(admin_->delete_topics({&name, 1}, kAskLimit));
  create_topics();
}

std::unique_ptr<Process> ResequencerRun::start(int instance, const std::vector<std::string>& environment) {
  std::vector<std::string> argv = {"env"};
  argv.insert(argv.end(), environment.begin(), environment.end());
  argv.insert(argv.end(), {program(program_), "run", "--config", config_file(instance)});
  return std::make_unique<Process>(argv, log_file(instance));
}

bool ResequencerRun::drained() {
  for (const std::string& input : {topic("requests"), topic("commands")})
    if (answer([&] { return admin_->lag(application_id_, input, kAskLimit); }) != 0) return false;
  return true;
}

std::map<int, std::int64_t> ResequencerRun::open_transactions() {
  const auto stable_ends = [&] { return admin_->stable_ends(topic("changelog"), kAskLimit); };
  const auto stable = answer(stable_ends);
  std::vector<kafka::TopicPartition> partitions;
  for (const kafka::PlainOffset& end : stable) partitions.push_back({kafka::TopicIndex(0), end.partition});
  // Asked second: a stable end that is older than the high watermark by one commit is a race, so look again.
  const auto high = answer([&] { return watcher_->high_watermarks(partitions, kAskLimit); });
  const auto again = answer(stable_ends);
  std::map<int, std::int64_t> open;
  for (std::size_t i = 0; i < again.size(); ++i)
    if (again[i].offset < high[i].offset) open[again[i].partition.value()] = again[i].offset.value();
  return open;
}

std::string ResequencerRun::log_file(int instance) const {
  return directory_.path() + "/resequencer-" + std::to_string(instance) + ".log";
}

std::string ResequencerRun::state_folder(int instance) const {
  return directory_.path() + "/state/" + application_id_ + "/" + std::to_string(instance);
}

std::string ResequencerRun::config_file(int instance) {
  const std::string path = directory_.path() + "/resequencer-" + std::to_string(instance) + ".toml";
  std::ofstream file(path);
  file << "application.id = \"" << application_id_ << "\"\n"
       << "instance.id = \"" << instance << "\"\n"
       << "bootstrap.servers = \"" << connection_.bootstrap_servers << "\"\n"
       << "state.dir = \"" << directory_.path() << "/state\"\n"
       << "http.listen = \"127.0.0.1:0\"\n"  // many run at once
       << more_toml_ << "\n";
  for (const std::string& target : targets_) file << "[[target]]\nname = \"" << target << "\"\n";
  return path;
}

}  // namespace reseq::test
