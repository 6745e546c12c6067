#include "tests/support/quickstart_run.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

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

std::vector<std::string> command_line_of(const std::filesystem::path& process) {
  std::vector<std::string> words;
  std::istringstream text(content_of(process / "cmdline"));
  for (std::string word; std::getline(text, word, '\0');) words.push_back(word);
  return words;
}

bool is_of(const std::filesystem::path& process, pid_t ancestor) {
  for (std::string pid = process.filename(); pid != "0" && !pid.empty();) {
    if (pid == std::to_string(ancestor)) return true;
    std::istringstream stat(content_of("/proc/" + pid + "/stat"));
    std::string state;
    std::getline(stat, state, ')');  // the name may hold anything else
    pid.clear();
    stat >> state >> pid;
  }
  return false;
}

}  // namespace

QuickstartRun::QuickstartRun(const std::filesystem::path& repository, const std::vector<std::string>& options,
                             const std::map<std::string, std::string>& environment)
    : log_file_(folder_.path() + "/log"),
      process_(command(repository, options, environment, folder_.path()), log_file_) {}

bool QuickstartRun::is_sending() {
  return process_.running() && log().find("sending") != std::string::npos;
}

std::vector<std::string> QuickstartRun::command_of_sink(const std::string& program) const {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::vector<std::string> words = command_line_of(entry.path());
    if (words.empty() || std::filesystem::path(words[0]).filename() != program || !is_of(entry.path(), process_.pid()))
      continue;
    const std::vector<std::string> versions{"--versions", "on"};
    if (std::search(words.begin(), words.end(), versions.begin(), versions.end()) == words.end()) continue;
    const auto progress = std::find(words.begin(), words.end(), "--progress-file");  // the first instance's own
    if (words.end() - progress >= 2) words.erase(progress, progress + 2);
    return words;
  }
  throw std::runtime_error("no " + program + " runs");
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
