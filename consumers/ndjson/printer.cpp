#include "consumers/ndjson/printer.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace reseq::sink_ndjson {

Result<> Printer::print(const kafka::PlainRecord& record) {
  waiting_ += lines::output_line(
      {.key = record.key, .payload = record.payload, .headers = {record.headers.data(), record.headers.size()}},
      record.partition, record.offset, form_);
  printed_[record.partition] = {std::string(record.topic), record.partition, Offset(record.offset.value() + 1)};
  return waiting_.size() < kFlushBytes ? Result<>(Done{}) : flush();
}

Result<> Printer::flush() {
  std::size_t written = 0;
  while (written < waiting_.size()) {
    const ssize_t n = ::write(file_, waiting_.data() + written, waiting_.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd room{.fd = file_, .events = POLLOUT, .revents = 0};
      (void)::poll(&room, 1, -1);
      continue;
    }
    if (n < 0)
      return Error{.what_to_do = ErrorClass::kFatal,
                   .code = errno,
                   .message = std::string("cannot write the lines: ") + std::strerror(errno)};
    written += static_cast<std::size_t>(n);
  }
  waiting_.clear();
  for (auto& [partition, next] : printed_) written_[partition] = std::move(next);
  printed_.clear();
  return Done{};
}

bool Printer::reader_is_gone() const {
  pollfd pipe{.fd = file_, .events = POLLOUT, .revents = 0};
  return ::poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0;
}

std::vector<kafka::PlainOffset> Printer::take_written() {
  std::vector<kafka::PlainOffset> next;
  for (auto& [partition, offset] : written_) next.push_back(std::move(offset));
  written_.clear();
  return next;
}

void Printer::forget_positions() {
  printed_.clear();
  written_.clear();
}

}  // namespace reseq::sink_ndjson
