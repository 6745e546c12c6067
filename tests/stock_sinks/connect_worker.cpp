#include "tests/stock_sinks/connect_worker.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

constexpr int kFetchLimitMs = 300'000;
constexpr int kStopLimitMs = 60'000;

void write_file(const std::string& file, const std::string& text) {
  std::ofstream(file) << text;
}

std::string content_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The folder of its jars.
const std::string& jars() {
  static const std::string folder = [] {
    const TempDir scratch;
    Process fetch({"bash", "-c", "\"$0\" >\"$1\"", source_path("tests/stock_sinks/jars"), scratch.path() + "/jars"},
                  scratch.path() + "/log");
    if (fetch.wait(kFetchLimitMs) != 0) throw std::runtime_error("no Kafka Connect: " + fetch.tail());
    std::string found = content_of(scratch.path() + "/jars");
    found.pop_back();  // the end of its line
    return found;
  }();
  return folder;
}

}  // namespace

ConnectWorker::ConnectWorker(const std::string& bootstrap_servers, const std::string& connector) {
  write_file(folder_.path() + "/worker.properties",
             "bootstrap.servers=" + bootstrap_servers +
                 "\n"
                 "listeners=http://127.0.0.1:0\n"
                 "key.converter=org.apache.kafka.connect.converters.ByteArrayConverter\n"
                 "value.converter=org.apache.kafka.connect.converters.ByteArrayConverter\n"
                 "offset.storage.file.filename=" +
                 folder_.path() +
                 "/offsets\n"
                 "offset.flush.interval.ms=500\n"
                 "config.providers=env\n"
                 "config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider\n");
  write_file(folder_.path() + "/connector.properties", connector);
}

void ConnectWorker::start() {
  process_ = std::make_unique<Process>(
      std::vector<std::string>{"java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                               "-Dlog4j2.configurationFile=" + source_path("script/kafka.d/log4j2.properties"), "-cp",
                               jars() + "/*", "org.apache.kafka.connect.cli.ConnectStandalone",
                               folder_.path() + "/worker.properties", folder_.path() + "/connector.properties"},
      folder_.path() + "/log");
}

void ConnectWorker::kill() {
  process_->signal(SIGKILL);
  process_->wait(kStopLimitMs);
}

int ConnectWorker::stop() {
  process_->signal(SIGTERM);
  return process_->wait(kStopLimitMs);
}

std::string ConnectWorker::log() const {
  return content_of(folder_.path() + "/log");
}

}  // namespace reseq::test
