#include "tests/operator/operator.h"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "kafka/plain_producer.h"
#include "tests/e2e/patience.h"
#include "tests/support/broker.h"
#include "tests/support/count_of.h"
#include "tests/support/good.h"

namespace reseq::test {

namespace {

constexpr std::chrono::milliseconds kReadyLimit{60'000};
constexpr Milliseconds kAskLimit{30'000};
constexpr int kPartitions = 4;

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Operator::Operator(std::string servers)
    : bootstrap_servers(std::move(servers)),
      application_id_(unique_name("operator")),
      log_file_(folder_.path() + "/run.log") {
  state_dir = path("state");
}

std::vector<std::string> Operator::command(const std::vector<std::string>& subcommand) {
  const std::string config = path("config-" + std::to_string(++files_) + ".toml");
  std::ofstream(config) << "application.id = \"" << application_id_ << "\"\ninstance.id = \"" << instance
                        << "\"\nbootstrap.servers = \"" << bootstrap_servers << "\"\nstate.dir = \"" << state_dir
                        << "\"\nsession.timeout.ms = 6000\nhttp.listen = \"" << http_listen << "\"\n"
                        << keys << tables;
  std::vector<std::string> argv = {"env"};
  argv.insert(argv.end(), environment.begin(), environment.end());
  argv.insert(argv.end(), in_front.begin(), in_front.end());
  argv.push_back(program("resequencer"));
  argv.insert(argv.end(), subcommand.begin(), subcommand.end());
  argv.insert(argv.end(), {"--config", config});
  return argv;
}

Ran Operator::run(const std::vector<std::string>& subcommand, int limit_ms) {
  const std::string output = path("output-" + std::to_string(++files_));
  Process process(command(subcommand), output);
  Ran ran;
  ran.code = process.wait(limit_ms);
  ran.text = read(output);
  std::string trimmed = ran.text;
  while (!trimmed.empty() && trimmed.back() == '\n') trimmed.pop_back();
  ran.last_line = trimmed.substr(trimmed.rfind('\n') == std::string::npos ? 0 : trimmed.rfind('\n') + 1);
  return ran;
}

std::unique_ptr<Process> Operator::start() {
  return std::make_unique<Process>(command({"run"}), log_file_);
}

std::unique_ptr<Process> Operator::start_and_wait() {
  const auto ready = [](const std::string& text) {
    return count_of(text, "takeover=ready") + count_of(text, "takeover=born");
  };
  const int before = ready(log());
  auto process = start();
  if (!wait_until(kReadyLimit, [&] { return ready(log()) >= before + kPartitions || !process->running(); }) ||
      !process->running())
    throw std::runtime_error("the resequencer is not ready: " + process->tail());
  return process;
}

std::string Operator::log() const {
  return read(log_file_);
}

kafka::Connection Operator::connection() const {
  kafka::Connection connection;
  connection.bootstrap_servers = bootstrap_servers;
  connection.client_id = "test";
  connection.log = [](int, std::string_view, std::string_view) {};
  return connection;
}

void Operator::create_topic(const std::string& role, int partitions, const kafka::Properties& configs) {
  const kafka::TopicSpec spec{.name = topic(role), .partitions = partitions, .configs = configs};
  good(good(kafka::Admin::open(connection()))->create_topics(std::span(&spec, 1), kAskLimit));
}

void Operator::send(const std::string& role, const std::string& id, const std::vector<Header>& headers,
                    const std::string& payload) {
  const auto producer = good(kafka::PlainProducer::open(connection()));
  good(producer->send(topic(role), id, payload, headers));
  good(producer->flush(kAskLimit));
}

}  // namespace reseq::test
