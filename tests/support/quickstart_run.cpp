#include "tests/support/quickstart_run.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/broker.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

constexpr int kLimitMs = 600'000;

std::string content_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> command(const std::filesystem::path& repository, const std::vector<std::string>& options,
                                 const std::map<std::string, std::string>& environment, const std::string& folder) {
  ::setenv("RESEQ_BOOTSTRAP_SERVERS", Broker::shared().bootstrap_servers().c_str(), 1);
  ::setenv("RESEQ_PROGRAMS", std::filesystem::path(program("resequencer")).parent_path().c_str(), 1);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<std::string> argv = {source_path("script/quickstart"), "--repo", repository, "--out", folder};
  argv.insert(argv.end(), options.begin(), options.end());
  return argv;
}

}  // namespace

QuickstartRun::QuickstartRun(const std::filesystem::path& repository, const std::vector<std::string>& options,
                             const std::map<std::string, std::string>& environment)
    : log_file_(folder_.path() + "/log"),
      process_(command(repository, options, environment, folder_.path()), log_file_) {}

bool QuickstartRun::is_sending() {
  return process_.running() && log().find("sending") != std::string::npos;
}

int QuickstartRun::wait() {
  return process_.wait(kLimitMs);
}

std::string QuickstartRun::report() const {
  return content_of(folder_.path() + "/report.json");
}

std::string QuickstartRun::log() const {
  return content_of(log_file_);
}

}  // namespace reseq::test
