#include "consumers/command/command_process.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace reseq::command {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr int kReadsInARow = 16;

}  // namespace

Result<std::unique_ptr<CommandProcess>> CommandProcess::start(const std::vector<std::string>& argv) {
  Result<Pipe> to = open_pipe();
  if (!to) return to.error();
  Result<Pipe> from = open_pipe();
  if (!from) return from.error();
  Result<Child> child = Child::start(argv, {.in = to.value().reading.number(),
                                            .out = from.value().writing.number(),
                                            .err = STDERR_FILENO,
                                            .own_group = true});
  if (!child) return child.error();
  FileDescriptor input = std::move(to.value().writing);
  FileDescriptor output = std::move(from.value().reading);
  for (const int end : {input.number(), output.number()}) ::fcntl(end, F_SETFL, O_NONBLOCK);
  return std::unique_ptr<CommandProcess>(
      new CommandProcess(std::move(child).value(), std::move(input), std::move(output)));
}

CommandProcess::~CommandProcess() {
  if (child_.running()) child_.signal_group(SIGKILL);
}

void CommandProcess::finish_input() {
  finishing_ = true;
  write_some();
}

void CommandProcess::write_some() {
  while (input_.number() >= 0 && waiting_bytes() > 0) {
    const ssize_t n = ::write(input_.number(), waiting_.data() + written_, waiting_bytes());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) {  // EPIPE
      input_refused_ = true;
      input_.close();
      return;
    }
    written_ += static_cast<std::size_t>(n);
  }
  if (written_ > waiting_.size() / 2) {
    waiting_.erase(0, written_);
    written_ = 0;
  }
  if (finishing_ && waiting_bytes() == 0) input_.close();
}

void CommandProcess::read_some() {
  std::string bytes(kReadBytes, '\0');
  // Bounded, so that a command that never stops writing does not keep us here.
  for (int reads = 0; !output_ended() && reads < kReadsInARow; ++reads) {
    const ssize_t n = ::read(output_.number(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return output_.close();
    lines_.add({bytes.data(), static_cast<std::size_t>(n)});
  }
}

std::optional<LineBuffer::Line> CommandProcess::next_line() {
  if (auto line = lines_.next()) return line;
  return output_ended() ? lines_.rest() : std::nullopt;
}

std::optional<std::string> CommandProcess::ending() {
  const std::optional<Ending>& ending = child_.poll();
  if (!ending) return std::nullopt;
  if (ending->signal != 0) return "was killed by signal " + std::to_string(ending->signal);
  return ending->good() ? std::string() : "ended with exit code " + std::to_string(ending->exit_code);
}

}  // namespace reseq::command
