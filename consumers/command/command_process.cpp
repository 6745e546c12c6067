#include "consumers/command/command_process.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace reseq::command {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
// Bounded, so that a command that never stops writing does not keep us here.
constexpr int kReadsInARow = 16;

// What there is now to read without waiting goes to `take`; an end that has ended is closed.
template <typename Take>
void read_from(FileDescriptor& end, const Take& take) {
  std::string bytes(kReadBytes, '\0');
  for (int reads = 0; end.number() >= 0 && reads < kReadsInARow; ++reads) {
    const ssize_t n = ::read(end.number(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return end.close();
    take(std::string_view(bytes.data(), static_cast<std::size_t>(n)));
  }
}

void pass_on(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // nobody hears us
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::size_t bytes_in(const FileDescriptor& pipe) {
  int count = 0;
  return ::ioctl(pipe.number(), FIONREAD, &count) == 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace

Result<std::unique_ptr<CommandProcess>> CommandProcess::start(const std::vector<std::string>& argv,
                                                              StandardError errors) {
  Result<Pipe> to = open_pipe();
  if (!to) return to.error();
  Result<Pipe> from = open_pipe();
  if (!from) return from.error();
  Result<Pipe> said = errors == StandardError::kHeard ? open_pipe() : Result<Pipe>(Pipe());
  if (!said) return said.error();
  const bool heard = said.value().writing.number() >= 0;
  Result<Child> child = Child::start(argv, {.in = to.value().reading.number(),
                                            .out = from.value().writing.number(),
                                            .err = heard ? said.value().writing.number() : STDERR_FILENO,
                                            .own_group = true});
  if (!child) return child.error();
  FileDescriptor input = std::move(to.value().writing);
  FileDescriptor output = std::move(from.value().reading);
  FileDescriptor err = std::move(said.value().reading);
  for (const int end : {input.number(), output.number(), err.number()})
    if (end >= 0) ::fcntl(end, F_SETFL, O_NONBLOCK);
  return std::unique_ptr<CommandProcess>(
      new CommandProcess(std::move(child).value(), std::move(input), std::move(output), std::move(err)));
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
      left_when_refused_ = bytes_in(input_);
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

std::size_t CommandProcess::unread_bytes() const {
  return waiting_bytes() + (input_.number() >= 0 ? bytes_in(input_) : left_when_refused_);
}

void CommandProcess::read_some() {
  read_from(output_, [&](std::string_view bytes) { lines_.add(bytes); });
}

void CommandProcess::read_errors() {
  if (errors_.number() < 0) return;
  read_from(errors_, [&](std::string_view bytes) {
    pass_on(bytes);
    last_error_.add(bytes);
  });
}

void CommandProcess::forget_errors() {
  read_errors();
  last_error_.clear();
}

std::optional<LineBuffer::Line> CommandProcess::next_line() {
  if (auto line = lines_.next()) return line;
  return output_ended() ? lines_.rest() : std::nullopt;
}

}  // namespace reseq::command
