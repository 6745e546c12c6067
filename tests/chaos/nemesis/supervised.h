// Supervised: a program that is started again a moment after it ended, whatever ended it, as a service manager does.
// Who ended it is noted: what ends by itself needs a reason.
// Thread rule: one thread, the one that lives as long as the run (the program dies with it).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace reseq::chaos {

using Clock = std::chrono::steady_clock;

struct ProgramToRun {
  std::string name;  // in logs
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=value, added to ours
  std::string log_file;                  // appended to
};

struct End {
  std::string name;
  int code = 0;             // exit code, or 128 + signal
  bool killed = false;      // by kill()
  bool terminated = false;  // by terminate() or stop(): what it did then is its own business
  std::string armed;        // what arm() was called with for this life
  double lived_s = 0;
};

class Supervised {
 public:
  Supervised(ProgramToRun program, std::function<void(const End&)> on_end);

  // Notes an end and starts the program when it is time. To be called often.
  void step();

  [[nodiscard]] const std::string& name() const { return program_.name; }
  [[nodiscard]] const std::string& log_file() const { return program_.log_file; }
  [[nodiscard]] bool running() const { return running_; }
  [[nodiscard]] pid_t pid() const { return running_ ? process_->pid() : -1; }
  [[nodiscard]] int starts() const { return starts_; }
  [[nodiscard]] double lives_s() const;  // since its last start

  // False: it does not run, so nothing was done.
  bool kill();       // SIGKILL
  bool terminate();  // SIGTERM; the end is noted by step()
  bool pause();      // SIGSTOP
  void resume();     // SIGCONT; nothing if it does not run
  // By pause(), or by itself at a point that it was armed with.
  [[nodiscard]] bool paused() const;
  // SIGTERM, waits for the end: its exit code, -1 when it did not come within the limit (then it was killed).
  int stop(std::chrono::milliseconds limit);

  // Not started again before as many release() as hold() were called.
  void hold() { ++holds_; }
  void release() { --holds_; }
  [[nodiscard]] bool held() const { return holds_ > 0; }

  // For the next life only: this is added to its environment; `label` is told with its end.
  void arm(std::string label, std::vector<std::string> environment);
  [[nodiscard]] const std::string& armed() const { return armed_; }
  void set_restart_after(std::chrono::milliseconds pause) { restart_after_ = pause; }
  // Called before each start.
  void set_before_start(std::function<void()> prepare) { before_start_ = std::move(prepare); }

 private:
  void start();
  void note_end(int code);

  ProgramToRun program_;
  std::function<void(const End&)> on_end_;
  std::function<void()> before_start_ = [] {};
  std::chrono::milliseconds restart_after_{1000};
  std::unique_ptr<test::Process> process_;
  bool running_ = false;
  bool killed_ = false;
  bool terminated_ = false;
  int holds_ = 0;
  int starts_ = 0;
  Clock::time_point started_at_{};
  Clock::time_point start_at_{};
  std::string armed_;
  std::string next_armed_;
  std::vector<std::string> next_environment_;
};

}  // namespace reseq::chaos
