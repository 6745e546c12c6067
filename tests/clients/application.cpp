#include "tests/clients/application.h"

#include <fstream>
#include <stdexcept>

#include "tests/clients/fences.h"
#include "tests/support/broker.h"
#include "tests/support/source_path.h"

namespace reseq::test {

namespace {

constexpr int kLimitMs = 250'000;
// Debian's, which has Debian's confluent-kafka; another one in PATH may lack it.
constexpr const char* kPython = "/usr/bin/python3";
const std::string kClients = source_path("docs/examples/clients/");

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Kafka's jars, from where script/kafka keeps them.
const std::string& jars() {
  static const std::string folder = [] {
    const Transcript found = run_program({source_path("script/kafka"), "jars"});
    if (found.exit_code != 0) throw std::runtime_error("no jars: " + found.text());
    return found.lines.back();
  }();
  return folder;
}

std::vector<std::string> command_of(Client client) {
  switch (client) {
    case Client::kKcat:
      return {kClients + "client.sh"};
    case Client::kPython:
      return {kPython, kClients + "client.py"};
    case Client::kJava:
      return {"java", "-cp", jars() + "/*", kClients + "Client.java"};
  }
  return {};
}

}  // namespace

std::string Transcript::text() const {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

Transcript run_program(const std::vector<std::string>& argv) {
  const TempDir directory;
  Process process(argv, directory.path() + "/output");
  Transcript transcript;
  transcript.exit_code = process.wait(kLimitMs);
  transcript.lines = lines_of(process.tail(std::string::npos));
  return transcript;
}

std::string name_of(Client client) {
  if (client == Client::kKcat) return "Kcat";
  return client == Client::kPython ? "Python" : "Java";
}

Application::Application(const std::string& more_toml) : name_(unique_name("shop")) {
  write_file(config_, "application.id = \"" + name_ + "\"\nbootstrap.servers = \"" +
                          Broker::shared().bootstrap_servers() + "\"\nstate.dir = \"" + directory_.path() +
                          "/state\"\nevents = \"all\"\nhttp.listen = \"127.0.0.1:0\"\n" + more_toml +
                          "[[target]]\nname = \"search\"\n[[target]]\nname = \"catalogue\"\n");
  const Transcript init = run_command({"init"});
  if (init.exit_code != 0) throw std::runtime_error("init failed: " + init.text());
  process_ = std::make_unique<Process>(std::vector<std::string>{program("resequencer"), "run", "--config", config_},
                                       directory_.path() + "/log");
}

Transcript Application::play(Client client, const std::string& steps, const std::string& partitioner) {
  const std::string file = directory_.path() + "/steps";
  write_file(file, steps);
  std::vector<std::string> argv = command_of(client);
  argv.insert(argv.end(), {Broker::shared().bootstrap_servers(), name_, file});
  if (!partitioner.empty()) argv.push_back(partitioner);
  return run_program(argv);
}

Transcript Application::run_script(const std::string& script) {
  const std::string own =
      replaced(replaced(script, "localhost:9092", Broker::shared().bootstrap_servers()), "shop.", name_ + ".");
  return run_program({"bash", "-euo", "pipefail", "-c", own});
}

Transcript Application::run_command(std::vector<std::string> words) {
  words.insert(words.begin(), program("resequencer"));
  words.insert(words.end(), {"--config", config_});
  return run_program(words);
}

Transcript Application::described_by(const std::string& document) {
  return run_program(
      {kPython, source_path("tests/clients/asyncapi.py"), document, Broker::shared().bootstrap_servers(), name_});
}

}  // namespace reseq::test
