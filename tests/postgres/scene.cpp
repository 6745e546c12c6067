#include "tests/postgres/scene.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

constexpr Milliseconds kLimit{30'000};
constexpr int kEndLimitMs = 60'000;
constexpr int kPartitions = 4;

std::string hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

}  // namespace

Scene::Scene(const std::string& what, kafka::Properties configs, const std::string& bootstrap_servers)
    : topic_(unique_name(what) + ".output.search"),
      database_(unique_name("sink")),
      url_(PostgresServer::shared().make_database(database_)) {
  connection_.bootstrap_servers = bootstrap_servers.empty() ? Broker::shared().bootstrap_servers() : bootstrap_servers;
  admin_ = good(kafka::Admin::open(connection_));
  const std::vector<kafka::TopicSpec> specs = {
      {.name = topic_, .partitions = kPartitions, .configs = std::move(configs)},
      {.name = topic_ + ".dead-letter", .partitions = 1}};
  good(admin_->create_topics(specs, kLimit));
  producer_ = good(kafka::PlainProducer::open(connection_));
}

void Scene::release(int count, int documents) {
  for (int i = 0; i < count; ++i) {
    const std::string id = "document-" + std::to_string(random_() % static_cast<std::uint64_t>(documents));
    std::optional<std::string> payload;
    if (random_() % 10 != 0) {
      payload.emplace();
      for (std::uint64_t size = random_() % 300; size > 0; --size) payload->push_back(static_cast<char>(random_()));
    }
    write(id, ++version_, payload);
    if (random_() % 20 == 0) write(id, version_ - 1, "late");  // older than what was just released
  }
  flush();
}

void Scene::write(const std::string& id, std::uint64_t version, const std::optional<std::string>& payload) {
  const std::string text = std::to_string(version);
  std::vector<Header> headers = {{"reseq-seq", "1"}, {"reseq-target", "search"}};
  if (version != 0) headers.push_back({"reseq-version", text});
  if (!payload) headers.push_back({"reseq-op", "delete"});
  good(producer_->send(topic_, id, payload, headers));
  remember(id, version, payload);
}

void Scene::fail(const std::string& id, std::uint64_t version, const std::optional<std::string>& error) {
  const std::string text = std::to_string(version);
  std::vector<Header> headers = {
      {"reseq-seq", "1"}, {"reseq-target", "search"}, {"reseq-version", text}, {"reseq-op", "failed"}};
  if (error) headers.push_back({"reseq-error", *error});
  const std::string said = error ? R"(,"error":")" + *error + '"' : "";
  const std::string note = R"({"reason":"failed")" + said + R"(,"attempts":3,"failed_at":"2026-11-29T15:12:05.123Z"})";
  good(producer_->send(topic_, id, note, headers));
  remember(id, version, std::nullopt);
}

void Scene::remember(const std::string& id, std::uint64_t version, const std::optional<std::string>& payload) {
  Document& known = documents_[id];
  if (version > known.version) known = {version, payload};
}

void Scene::flush() {
  good(producer_->flush(kLimit));
}

std::string Scene::make_writer(const std::string& payload_type) const {
  const std::string role = database_ + "-writer";
  Session(url_).script(
      "CREATE TABLE documents (id text PRIMARY KEY, version bigint NOT NULL, deleted boolean NOT NULL, payload " +
      payload_type +
      "); CREATE TABLE documents_positions (topic text, partition integer, next bigint NOT NULL, "
      "PRIMARY KEY (topic, partition)); CREATE ROLE \"" +
      role + "\" LOGIN; GRANT SELECT, INSERT, UPDATE ON documents, documents_positions TO \"" + role + "\"");
  return role;
}

std::vector<std::string> Scene::command(const std::vector<std::string>& more) const {
  std::vector<std::string> argv = {program("reseq-sink-postgres")};
  const std::vector<std::pair<std::string, std::string>> defaults = {
      {"--bootstrap-servers", connection_.bootstrap_servers},
      {"--topic", topic_},
      {"--server", url_},
      {"--session-timeout-ms", "6000"}};
  for (const auto& [name, value] : defaults)
    if (std::find(more.begin(), more.end(), name) == more.end()) argv.insert(argv.end(), {name, value});
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

std::unique_ptr<Process> Scene::start(const std::string& name, const std::vector<std::string>& more) const {
  return std::make_unique<Process>(command(more), folder_.path() + "/" + name + ".log");
}

std::string Scene::log_of(const std::string& name) const {
  std::ifstream file(folder_.path() + "/" + name + ".log");
  return {std::istreambuf_iterator<char>(file), {}};
}

int Scene::end(Process& sink) {
  sink.signal(SIGTERM);
  return sink.wait(kEndLimitMs);
}

std::int64_t Scene::written() const {
  try {
    return std::stoll(Session(url_).cell("SELECT coalesce(sum(next), 0)::text FROM documents_positions"));
  } catch (const std::exception&) {
    return 0;  // the server is not there, or the table is not yet
  }
}

bool Scene::is_caught_up() {
  std::int64_t end = 0;
  for (const kafka::PlainOffset& one : good(admin_->stable_ends(topic_, kLimit))) end += one.offset.value();
  return written() == end;
}

std::int64_t Scene::lag_of_group() const {
  try {
    return good(admin_->lag(group(), topic_, kLimit));
  } catch (const std::exception&) {
    return -1;  // the group has no coordinator yet
  }
}

std::vector<std::string> Scene::differences() const {
  std::set<std::string> expected;
  for (const auto& [id, document] : documents_)
    expected.insert(id + " " + std::to_string(document.version) + " " +
                    (document.payload ? hex(*document.payload) : "deleted"));
  std::vector<std::string> differences;
  for (const std::string& row :
       Session(url_).list("SELECT id || ' ' || version || ' ' || CASE WHEN deleted THEN 'deleted' ELSE "
                          "encode(payload, 'hex') END FROM documents"))
    if (expected.erase(row) == 0) differences.push_back("not expected: " + row.substr(0, 200));
  for (const std::string& row : expected) differences.push_back("missing: " + row.substr(0, 200));
  return differences;
}

std::vector<std::string> Scene::rows() const {
  return Session(url_).list("SELECT concat_ws(' ', id, version, deleted, payload, xmin) FROM documents ORDER BY id");
}

}  // namespace reseq::test
