// CommandProcess: a command that reads lines on its standard input and answers lines on its standard output. Both ends
// are pipes that never block us: what does not fit yet waits here, so that a command which writes before it has read
// everything cannot lock up with us.
// The command is in a process group of its own, so that Ctrl-C reaches only us; it ends when its input ends. Its
// standard error is ours.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "consumers/command/line_buffer.h"

namespace reseq::command {

class CommandProcess {
 public:
  // argv[0] is searched in PATH; no shell is involved. kInvalid: it cannot be started.
  static Result<std::unique_ptr<CommandProcess>> start(const std::vector<std::string>& argv);
  // Kills what still runs.
  ~CommandProcess();
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;

  // For poll(2); -1 when that end is closed.
  [[nodiscard]] int input() const { return input_; }
  [[nodiscard]] int output() const { return output_; }

  void give(std::string_view line) { waiting_ += line; }
  [[nodiscard]] std::size_t waiting_bytes() const { return waiting_.size() - written_; }
  // No more lines will be given: closes the input when the last one is written.
  void finish_input();

  // Moves what can be moved without waiting.
  void write_some();
  void read_some();
  [[nodiscard]] std::optional<LineBuffer::Line> next_line();

  // Nothing more comes from it.
  [[nodiscard]] bool output_ended() const { return output_ < 0; }
  // It does not read any more.
  [[nodiscard]] bool input_refused() const { return input_refused_; }

  // How it ended, in words, once it did; empty when it ended well.
  [[nodiscard]] std::optional<std::string> ending();
  void kill(int signal);

 private:
  CommandProcess(pid_t pid, int input, int output) : pid_(pid), input_(input), output_(output) {}
  static void close_end(int& end);

  pid_t pid_;
  int input_;
  int output_;
  bool finishing_ = false;
  bool input_refused_ = false;
  std::optional<int> status_;  // of waitpid
  std::string waiting_;
  std::size_t written_ = 0;  // of waiting_
  LineBuffer lines_;
};

}  // namespace reseq::command
