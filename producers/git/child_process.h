// ChildProcess: a program that is started with an argument vector, never through a shell, written to and read from.
// Its standard error is kept in memory, so that a failure can be told in the program's own words and a full pipe can
// never stop it. Variables of the environment that would point git at another repository are taken away.
// Invariant: a child that was not waited for by finish() is terminated and waited for by the destructor.
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/child.h"
#include "base/file_descriptor.h"
#include "base/result.h"

namespace reseq::git {

class ChildProcess {
 public:
  enum class Input : unsigned char {
    kNothing,  // reads the end of file at once
    kOurs,     // reads what write() says
  };

  enum class Group : unsigned char {
    kOwn,   // a Ctrl-C is for us alone, who then end the child in order
    kOurs,  // it may ask on the terminal, and a Ctrl-C ends it too
  };

  // arguments[0] is looked up in PATH. kInvalid: there is no such program.
  [[nodiscard]] static Result<ChildProcess> start(const std::vector<std::string>& arguments, Input input,
                                                  Group group = Group::kOwn);
  // Reads what `source` prints; its output belongs to the new child from then on.
  [[nodiscard]] static Result<ChildProcess> start_reading(const std::vector<std::string>& arguments,
                                                          ChildProcess& source);

  ChildProcess(ChildProcess&&) noexcept = default;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  // Bytes read, 0 at the end of the output.
  Result<std::size_t> read(std::span<char> into);
  // Writes all of it. REQUIRES: started with Input::kOurs.
  Result<> write(std::string_view bytes);
  void close_input() { input_.close(); }

  // Waits for its end. kInvalid when it did not end with status 0, with the last line of its standard error.
  Result<> finish();

 private:
  ChildProcess(Child child, std::string name, FileDescriptor input, FileDescriptor output, FileDescriptor errors);
  [[nodiscard]] static Result<ChildProcess> spawn(const std::vector<std::string>& arguments, int standard_input,
                                                  FileDescriptor our_end, Group group);
  [[nodiscard]] std::string last_error_line() const;

  Child child_;
  std::string name_;  // for messages: "git cat-file"
  FileDescriptor input_;
  FileDescriptor output_;
  FileDescriptor errors_;
};

// Runs it to its end, in our process group, and returns what it printed. kInvalid: it failed, or printed more than 1
// MiB.
[[nodiscard]] Result<std::string> output_of(const std::vector<std::string>& arguments);

}  // namespace reseq::git
