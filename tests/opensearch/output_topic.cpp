#include "tests/opensearch/output_topic.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

constexpr Milliseconds kLimit{30'000};
constexpr int kEndLimitMs = 60'000;
constexpr std::chrono::seconds kReadLimit{120};
constexpr std::int32_t kPartitions = 4;

std::string payload_of(const std::string& id, std::uint64_t version, std::uint64_t size) {
  return nlohmann::json{{"id", id}, {"n", version}, {"text", std::string(size, 'x')}}.dump();
}

}  // namespace

OutputTopic::OutputTopic(const std::string& what, SearchServer& server, kafka::Properties configs)
    : server_(server), topic_(unique_name(what) + ".output.search"), index_(unique_name(what)) {
  connection_.bootstrap_servers = Broker::shared().bootstrap_servers();
  admin_ = good(kafka::Admin::open(connection_));
  const std::vector<kafka::TopicSpec> specs = {
      {.name = topic_, .partitions = kPartitions, .configs = std::move(configs)},
      {.name = topic_ + ".dead-letter", .partitions = 1}};
  (void)good(admin_->create_topics(specs, kLimit));
  producer_ = good(kafka::PlainProducer::open(connection_));
}

void OutputTopic::release(int count, int documents) {
  std::vector<std::pair<std::string, std::pair<std::uint64_t, std::optional<std::string>>>> earlier;
  for (int i = 0; i < count; ++i) {
    const std::string id = "doc/" + std::to_string(random_() % static_cast<std::uint64_t>(documents));
    std::optional<std::string> payload;
    ++version_;
    if (random_() % 10 != 0) payload = payload_of(id, version_, random_() % 300);
    write(id, version_, payload);
    if (random_() % 4 == 0) earlier.push_back({id, {version_, payload}});
    if (random_() % 8 != 0 || earlier.empty()) continue;
    const auto& [again, was] = earlier[random_() % earlier.size()];
    write(again, was.first, was.second);
  }
  flush();
}

void OutputTopic::write(const std::string& id, std::uint64_t version, const std::optional<std::string>& payload) {
  send(id, version, payload);
  Document& known = documents_[id];
  if (version > known.version) known = {version, payload};
}

void OutputTopic::fail(const std::string& id, std::uint64_t version, const std::optional<std::string>& error) {
  const std::string text = std::to_string(version);
  std::vector<Header> headers = {
      {"reseq-seq", "1"}, {"reseq-target", "search"}, {"reseq-version", text}, {"reseq-op", "failed"}};
  nlohmann::json note = {{"reason", "failed"}, {"attempts", 3}, {"failed_at", "2026-11-29T15:12:05.123Z"}};
  if (error) headers.push_back({"reseq-error", *error});
  if (error) note["error"] = *error;
  (void)good(producer_->send(topic_, id, note.dump(), headers));
  Document& known = documents_[id];
  if (version > known.version) known = {version, std::nullopt};
}

void OutputTopic::write_poison(const std::string& id, std::uint64_t version, const std::string& payload) {
  send(id, version, payload);
}

void OutputTopic::send(const std::string& id, std::uint64_t version, const std::optional<std::string>& payload) {
  const std::string text = std::to_string(version);
  std::vector<Header> headers = {{"reseq-seq", "1"}, {"reseq-target", "search"}};
  if (version != 0) headers.push_back({"reseq-version", text});
  if (!payload) headers.push_back({"reseq-op", "delete"});
  (void)good(producer_->send(topic_, id, payload, headers));
}

void OutputTopic::flush() {
  (void)good(producer_->flush(kLimit));
}

std::unique_ptr<Process> OutputTopic::start(const std::string& name, const std::vector<std::string>& more) const {
  std::vector<std::string> argv = {program("reseq-sink-opensearch"),
                                   "--bootstrap-servers",
                                   connection_.bootstrap_servers,
                                   "--topic",
                                   topic_,
                                   "--url",
                                   server_.url(),
                                   "--index",
                                   index_,
                                   "--session-timeout-ms",
                                   "6000"};
  argv.insert(argv.end(), more.begin(), more.end());
  return std::make_unique<Process>(argv, folder_.path() + "/" + name + ".log");
}

std::string OutputTopic::log_of(const std::string& name) const {
  std::ifstream file(folder_.path() + "/" + name + ".log");
  return {std::istreambuf_iterator<char>(file), {}};
}

int OutputTopic::end(Process& sink) {
  sink.signal(SIGTERM);
  return wait(sink);
}

int OutputTopic::wait(Process& sink) {
  return sink.wait(kEndLimitMs);
}

std::optional<std::int64_t> OutputTopic::lag(const std::string& group) const {
  const Result<std::int64_t> lag = admin_->lag(group, topic_, kLimit);
  return lag ? std::optional(lag.value()) : std::nullopt;
}

std::string OutputTopic::wait_until_read(const std::string& group) const {
  const auto until = std::chrono::steady_clock::now() + kReadLimit;
  while (true) {
    const Result<std::int64_t> lag = admin_->lag(group, topic_, kLimit);
    if (lag && lag.value() == 0) return "";
    if (std::chrono::steady_clock::now() > until)
      return lag ? "still " + std::to_string(lag.value()) + " records to read" : lag.error().message;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::vector<std::string> OutputTopic::differences() const {
  std::map<std::string, nlohmann::json> seen = server_.documents(index_);
  std::vector<std::string> differences;
  for (const auto& [id, document] : documents_) {
    const auto found = seen.find(id);
    if (!document.payload) {
      if (found != seen.end()) differences.push_back(id + " is back: " + found->second.dump());
    } else if (found == seen.end()) {
      differences.push_back(id + " is missing");
    } else {
      nlohmann::json expected = nlohmann::json::parse(*document.payload);
      expected["_version"] = document.version;
      if (found->second != expected) differences.push_back(id + " is " + found->second.dump().substr(0, 200));
    }
    if (found != seen.end()) seen.erase(found);
  }
  for (const auto& [id, document] : seen) differences.push_back(id + " is nobody's");
  return differences;
}

std::size_t OutputTopic::dead_letters() const {
  std::int64_t letters = 0;
  for (const kafka::PlainOffset& end : good(admin_->stable_ends(topic_ + ".dead-letter", kLimit)))
    letters += end.offset.value();
  return static_cast<std::size_t>(letters);
}

}  // namespace reseq::test
