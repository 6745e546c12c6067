#include "tests/admin/office.h"

#include <csignal>
#include <fstream>
#include <httplib.h>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {

namespace {

constexpr std::chrono::milliseconds kReadyLimit{60'000};
constexpr std::chrono::milliseconds kReplyLimit{30'000};
constexpr Milliseconds kSendLimit{30'000};
constexpr int kCommandLimitMs = 60'000;

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Office::Office(const std::string& more_toml)
    : application_(Broker::shared().bootstrap_servers(), unique_name("admin"), {"search", "catalogue"},
                   "session.timeout.ms = 6000\n" + more_toml),
      fleet_(std::make_unique<Fleet>(application_, kInstances)),
      producer_(good(kafka::PlainProducer::open(application_.connection()))) {
  const bool ready = wait_until(kReadyLimit, [&] {
    fleet_->look();
    return fleet_->settled(kPartitions);
  });
  if (!ready) throw std::runtime_error("the instances do not share the partitions: " + fleet_->process(1).tail());
}

// The machine may be busy with other tests; an answer that is there ends the wait.
Printed Office::run(std::vector<std::string> subcommand) {
  subcommand.insert(subcommand.end(), {"--timeout-ms", "30000"});
  return run_alone(std::move(subcommand));
}

Printed Office::run_alone(std::vector<std::string> subcommand) {
  return run_until(std::move(subcommand), nullptr);
}

Printed Office::run_until(std::vector<std::string> subcommand, const std::function<bool(const std::string&)>& enough) {
  const std::string output = path("output-" + std::to_string(++files_));
  std::vector<std::string> argv = {program("resequencer")};
  argv.insert(argv.end(), subcommand.begin(), subcommand.end());
  argv.insert(argv.end(), {"--config", application_.config_file(0)});
  Process process(argv, output);
  if (enough) {
    wait_until(std::chrono::milliseconds(kCommandLimitMs), [&] { return enough(read(output)); });
    process.signal(SIGINT);
  }
  Printed printed;
  printed.code = process.wait(kCommandLimitMs);
  printed.text = read(output);
  return printed;
}

nlohmann::json Office::run_json(std::vector<std::string> subcommand) {
  subcommand.insert(subcommand.end(), {"-o", "json"});
  const Printed printed = run(std::move(subcommand));
  if (printed.code != 0) throw std::runtime_error("exit code " + std::to_string(printed.code) + ": " + printed.text);
  return nlohmann::json::parse(printed.text);
}

void Office::send(const std::string& role, const std::string& key, const std::vector<Header>& headers,
                  std::optional<UnixMs> written, std::optional<Partition> partition) {
  // A result comes behind its request: a worker has read it. Two topics of one producer have no order.
  if (role == "commands" && requested_) good(producer_->flush(kSendLimit));
  requested_ = role == "requests" || (requested_ && role != "commands");
  good(producer_->send(application_.topic(role), key, "{}", headers, written, partition));
}

void Office::request(const std::string& id, std::uint64_t sequence) {
  const std::string seq = std::to_string(sequence);
  send("requests", id, {{"reseq-seq", seq}});
}

void Office::result(const std::string& id, std::uint64_t sequence, const std::string& target) {
  const std::string seq = std::to_string(sequence);
  send("commands", id, {{"reseq-command", "sequence"}, {"reseq-seq", seq}, {"reseq-target", target}});
}

void Office::garbage() {
  send("requests", "no sequence", {});
}

void Office::settle() {
  good(producer_->flush(kSendLimit));
  if (!wait_until(kReadyLimit, [&] { return application_.drained(); }))
    throw std::runtime_error("inputs are not decided");
}

void Office::ask(const std::string& payload, const std::vector<Header>& headers) {
  good(producer_->send(application_.topic("admin.requests"), "key", payload, headers));
  good(producer_->flush(kSendLimit));
}

std::vector<std::string> Office::payloads(const std::string& role) {
  std::vector<std::string> all;
  read_all(application_.connection(), application_.topic(role),
           [&](const kafka::PlainRecord& record) { all.emplace_back(record.payload.value_or("")); });
  return all;
}

std::vector<nlohmann::json> Office::replies(const std::string& correlation_id, std::size_t count) {
  std::vector<nlohmann::json> found;
  wait_until(kReplyLimit, [&] {
    found.clear();
    read_all(application_.connection(), application_.topic("admin.replies"), [&](const kafka::PlainRecord& record) {
      for (const Header& header : record.headers)
        if (header.name == "reseq-correlation-id" && header.value == correlation_id)
          found.push_back(nlohmann::json::parse(record.payload.value_or("")));
    });
    return found.size() >= count;
  });
  return found;
}

int Office::http_port(int instance) {
  std::string port;
  std::ifstream log(application_.log_file(instance));
  for (std::string line; std::getline(log, line);)
    if (line.find("http=open") != std::string::npos) port = field(line, "port").value_or("");
  if (port.empty()) throw std::runtime_error("no port in the log of instance " + std::to_string(instance));
  return std::stoi(port);
}

Office::Got Office::get(int instance, const std::string& path) {
  httplib::Client client("127.0.0.1", http_port(instance));
  const auto got = client.Get(path);
  return got ? Got{got->status, got->body} : Got{};
}

}  // namespace reseq::test
