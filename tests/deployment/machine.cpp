#include "tests/deployment/machine.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "tests/e2e/patience.h"
#include "tests/support/source_path.h"

namespace reseq::test {

namespace {

constexpr int kLimitMs = 120'000;
constexpr int kEndLimitMs = 10'000;
constexpr std::chrono::milliseconds kHoldLimit{20'000};
const std::string kHold = source_path("tests/deployment/hold-machine");

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void append(Words& all, const Words& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// As `user`, with nothing but this in its environment.
Words as_user(const std::string& user, const Words& environment, const Words& command) {
  Words all = {"chroot", "--userspec=" + user, "/", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
  append(all, environment);
  append(all, command);
  return all;
}

}  // namespace

Outcome run_here(const Words& command, int limit_ms) {
  const TempDir folder;
  Process process(command, folder.path() + "/output");
  const int code = process.wait(limit_ms);
  return {code, read(folder.path() + "/output")};
}

// It ends with this process, however that ends.
Machine::Machine(Init init) : init_(init) {
  const char* kind = init == Init::kSystemd ? "systemd" : "plain";
  holder_ = std::make_unique<Process>(Words{"setpriv", "--pdeathsig", "KILL", kHold, folder_.path(), kind},
                                      folder_.path() + "/holder.log");
  const std::string ready = folder_.path() + "/ready";
  (void)wait_until(kHoldLimit, [&] { return std::filesystem::exists(ready) || !holder_->running(); });
  if (!std::filesystem::exists(ready)) throw std::runtime_error("no machine for the test: " + holder_->tail());
}

Machine::~Machine() {
  holder_->signal(SIGKILL);
  (void)holder_->wait(kEndLimitMs);
  // The last process of its systemd may take a moment to end.
  if (init_ == Init::kSystemd)
    (void)wait_until(std::chrono::milliseconds(kEndLimitMs), [&] {
      return run_here({kHold, folder_.path(), "sweep"}).code == 0;
    });
}

Words Machine::enter() const {
  return {"nsenter", "--target", std::to_string(holder_->pid()), "--mount", "--root", "--wd=/"};
}

// Among its processes, because systemd looks who asks.
Outcome Machine::run(const Words& command, const std::string& user, const Words& environment) {
  Words all = enter();
  all.push_back("--pid=/proc/" + std::to_string(holder_->pid()) + "/ns/pid_for_children");
  append(all, as_user(user, environment, command));
  return run_here(all, kLimitMs);
}

std::unique_ptr<Process> Machine::start(const Words& command, const std::string& user, const Words& environment,
                                        const std::string& log_file) {
  Words all = enter();
  append(all, as_user(user, environment, command));
  return std::make_unique<Process>(all, log_file);
}

std::string Machine::content(const std::string& path) const {
  return read(root() + path);
}

Words Machine::changed(const std::string& part_of_name) {
  const std::string layer = root() + folder_.path() + "/changed";
  std::istringstream lines(run_here({"find", layer, "-name", "*" + part_of_name + "*", "-printf", "/%P\n"}).text);
  Words found;
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  return found;
}

}  // namespace reseq::test
