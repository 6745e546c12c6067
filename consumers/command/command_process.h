// CommandProcess: a command that reads lines on its standard input and answers lines on its standard output. Both ends
// are pipes that never block us: what does not fit yet waits here, so that a command which writes before it has read
// everything cannot lock up with us.
// The command is in a process group of its own, so that Ctrl-C reaches only us; it ends when its input ends. Its
// standard error is ours, or a third pipe, whose bytes are passed on to ours.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/child.h"
#include "base/file_descriptor.h"
#include "base/result.h"
#include "consumers/command/last_line.h"
#include "consumers/command/line_buffer.h"

namespace reseq::command {

enum class StandardError : unsigned char { kOurs, kHeard };

class CommandProcess {
 public:
  // argv[0] is searched in PATH; no shell is involved. kInvalid: it cannot be started; kFatal: no
  // descriptor is left.
  static Result<std::unique_ptr<CommandProcess>> start(const std::vector<std::string>& argv,
                                                       StandardError errors = StandardError::kOurs);
  // Kills what still runs of its group.
  ~CommandProcess();
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;

  // For poll(2); -1 when that end is closed.
  [[nodiscard]] int input() const { return input_.number(); }
  [[nodiscard]] int output() const { return output_.number(); }
  [[nodiscard]] int errors() const { return errors_.number(); }

  void give(std::string_view line) { waiting_ += line; }
  [[nodiscard]] std::size_t waiting_bytes() const { return waiting_.size() - written_; }
  // Of what it was given it has not read so many. REQUIRES: its input was not finished.
  [[nodiscard]] std::size_t unread_bytes() const;
  // No more lines will be given: closes the input when the last one is written.
  void finish_input();

  // Moves what can be moved without waiting.
  void write_some();
  void read_some();
  void read_errors();
  [[nodiscard]] std::optional<LineBuffer::Line> next_line();
  // The last line of its standard error since the last forget_errors(); empty when that is ours.
  [[nodiscard]] std::string last_error() const { return last_error_.text(); }
  void forget_errors();

  // Nothing more comes from it.
  [[nodiscard]] bool output_ended() const { return output_.number() < 0; }
  // It does not read any more.
  [[nodiscard]] bool input_refused() const { return input_refused_; }

  // How it ended, once it did.
  [[nodiscard]] std::optional<Ending> ending() { return child_.poll(); }
  // To the whole group: a shell and what it runs.
  void kill(int signal) { child_.signal_group(signal); }

 private:
  CommandProcess(Child child, FileDescriptor input, FileDescriptor output, FileDescriptor errors)
      : child_(std::move(child)), input_(std::move(input)), output_(std::move(output)), errors_(std::move(errors)) {}

  Child child_;
  FileDescriptor input_;
  FileDescriptor output_;
  FileDescriptor errors_;
  bool finishing_ = false;
  bool input_refused_ = false;
  std::string waiting_;
  std::size_t written_ = 0;            // of waiting_
  std::size_t left_when_refused_ = 0;  // in the pipe
  LineBuffer lines_;
  LastLine last_error_;
};

}  // namespace reseq::command
