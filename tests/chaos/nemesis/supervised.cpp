#include "tests/chaos/nemesis/supervised.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <utility>

namespace reseq::chaos {

namespace {

constexpr int kKillLimitMs = 20'000;

}  // namespace

Supervised::Supervised(ProgramToRun program, std::function<void(const End&)> on_end)
    : program_(std::move(program)), on_end_(std::move(on_end)) {}

void Supervised::step() {
  if (running_ && !process_->running()) note_end(process_->wait(0));
  if (!running_ && holds_ == 0 && Clock::now() >= start_at_) start();
}

void Supervised::start() {
  before_start_();
  // setpriv: a run that is killed leaves nobody behind.
  std::vector<std::string> argv = {"setpriv", "--pdeathsig", "KILL", "env"};
  argv.insert(argv.end(), program_.environment.begin(), program_.environment.end());
  argv.insert(argv.end(), next_environment_.begin(), next_environment_.end());
  argv.insert(argv.end(), program_.argv.begin(), program_.argv.end());
  process_ = std::make_unique<test::Process>(argv, program_.log_file);
  running_ = true;
  killed_ = false;
  terminated_ = false;
  armed_ = std::exchange(next_armed_, {});
  next_environment_.clear();
  ++starts_;
  started_at_ = Clock::now();
}

void Supervised::note_end(int code) {
  running_ = false;
  start_at_ = Clock::now() + restart_after_;
  on_end_({.name = program_.name,
           .code = code,
           .killed = killed_,
           .terminated = terminated_,
           .armed = std::exchange(armed_, {}),
           .lived_s = lives_s()});
}

double Supervised::lives_s() const {
  return std::chrono::duration<double>(Clock::now() - started_at_).count();
}

bool Supervised::kill() {
  if (!running_) return false;
  // Ended before, by itself: that must not pass for our deed.
  const bool ours = process_->running();
  if (ours) {
    killed_ = true;
    process_->signal(SIGKILL);
  }
  note_end(process_->wait(kKillLimitMs));
  return ours;
}

bool Supervised::terminate() {
  if (!running_ || !process_->running()) return false;
  terminated_ = true;
  process_->signal(SIGTERM);
  return true;
}

bool Supervised::pause() {
  if (!running_ || !process_->running()) return false;
  process_->signal(SIGSTOP);
  return true;
}

void Supervised::resume() {
  if (running_) process_->signal(SIGCONT);
}

bool Supervised::paused() const {
  std::ifstream file("/proc/" + std::to_string(pid()) + "/stat");
  const std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t name_ends = line.rfind(") ");
  return name_ends != std::string::npos && line.compare(name_ends + 2, 1, "T") == 0;
}

int Supervised::stop(std::chrono::milliseconds limit) {
  if (!running_) return 0;
  terminate();
  resume();  // another fault may have stopped it
  const int code = process_->wait(static_cast<int>(limit.count()));
  note_end(code);
  return code;
}

void Supervised::arm(std::string label, std::vector<std::string> environment) {
  next_armed_ = std::move(label);
  next_environment_ = std::move(environment);
}

}  // namespace reseq::chaos
