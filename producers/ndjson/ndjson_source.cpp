#include "producers/ndjson/ndjson_source.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "producers/ndjson/line_parser.h"
#include "producers/sending/fingerprint.h"

namespace reseq::ndjson {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 18;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

Error failed(ErrorClass what_to_do, const std::string& what) {
  return Error{.what_to_do = what_to_do, .code = errno, .message = what + ": " + std::strerror(errno)};
}

}  // namespace

Result<std::unique_ptr<NdjsonSource>> NdjsonSource::open(const std::string& path, NdjsonOptions options) {
  const int file = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failed(ErrorClass::kInvalid, "cannot read " + path);
  std::unique_ptr<NdjsonSource> source(new NdjsonSource(file, std::move(options)));
  struct stat status {};
  if (::fstat(file, &status) != 0) return failed(ErrorClass::kInvalid, "cannot read " + path);
  if (S_ISREG(status.st_mode)) {
    Result<> counted = source->count_lines();
    if (!counted.ok()) return counted.error();
  }
  return source;
}

NdjsonSource::~NdjsonSource() {
  ::close(file_);
}

// Only a file can be read twice; of a pipe nobody knows how long it is.
Result<> NdjsonSource::count_lines() {
  const off_t from = ::lseek(file_, 0, SEEK_CUR);
  std::uint64_t items = 0;
  for (;;) {
    const Result<std::optional<Line>> line = next_line();
    if (!line.ok()) return line.error();
    if (!line.value().has_value()) break;
    if (line.value()->too_long || !is_blank(line.value()->text)) ++items;
  }
  if (from < 0 || ::lseek(file_, from, SEEK_SET) < 0) return failed(ErrorClass::kFatal, "cannot go back in the file");
  buffer_.clear();
  begin_ = 0;
  ended_ = false;
  line_ = 0;
  items_ = items;
  return Done{};
}

std::string NdjsonSource::stream() const {
  std::string name = "ndjson";
  if (options_.epoch.has_value()) name += " epoch=" + std::to_string(options_.epoch->value());
  for (const std::string& target : options_.targets) name += " target=" + target;
  return name;
}

Result<> NdjsonSource::resume_after(const sending::Mark& mark) {
  while (line_ < mark.position) {
    const Result<std::optional<Line>> line = next_line();
    if (!line.ok() && line.error().what_to_do == ErrorClass::kRetriable) continue;
    if (!line.ok()) return line.error();
    if (!line.value().has_value()) break;
    if (!line.value()->too_long && is_blank(line.value()->text)) continue;
    token_ = sending::fingerprint(line.value()->text);
    if (items_.has_value()) --*items_;
  }
  if (this->mark() == mark) return Done{};
  return Error{.what_to_do = ErrorClass::kInvalid,
               .code = 0,
               .message = "line " + std::to_string(mark.position) +
                          " is not the one that was sent last: use another state file"};
}

Result<std::optional<sending::Item>> NdjsonSource::next() {
  for (;;) {
    const Result<std::optional<Line>> line = next_line();
    if (!line.ok()) return line.error();
    if (!line.value().has_value()) return std::optional<sending::Item>();
    const Line& found = *line.value();
    if (!found.too_long && is_blank(found.text)) continue;
    token_ = sending::fingerprint(found.text);
    if (found.too_long)
      return std::optional(
          sending::Item(sending::Unusable{"longer than " + std::to_string(options_.line_bytes_max) + " bytes"}));
    Result<tagging::Change> change = parse_line(found.text);
    if (!change.ok()) return std::optional(sending::Item(sending::Unusable{change.error().message}));
    if (change.value().targets.empty()) change.value().targets = options_.targets;
    if (!change.value().epoch.has_value()) change.value().epoch = options_.epoch;
    return std::optional(sending::Item(std::move(change).value()));
  }
}

sending::Mark NdjsonSource::mark() const {
  return {.position = line_, .token = token_};
}

Result<std::optional<NdjsonSource::Line>> NdjsonSource::next_line() {
  for (;;) {
    const std::string_view waiting = std::string_view(buffer_).substr(begin_);
    const std::size_t end = waiting.find('\n', searched_);
    const bool last = end == std::string_view::npos && ended_;
    if (end != std::string_view::npos || (last && (!waiting.empty() || dropping_))) {
      const std::string_view text = waiting.substr(0, last ? waiting.size() : end);
      begin_ += text.size() + (last ? 0 : 1);
      searched_ = 0;
      ++line_;
      const bool too_long = std::exchange(dropping_, false) || text.size() > options_.line_bytes_max;
      return std::optional(Line{.text = text, .too_long = too_long});
    }
    if (last) return std::optional<Line>();
    searched_ = waiting.size();
    if (searched_ > options_.line_bytes_max) {
      dropping_ = true;
      buffer_.clear();
      begin_ = 0;
      searched_ = 0;
    }
    Result<> filled = fill();
    if (!filled.ok()) return filled.error();
  }
}

Result<> NdjsonSource::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t held = buffer_.size();
  buffer_.resize(held + kReadBytes);
  const ssize_t n = ::read(file_, buffer_.data() + held, kReadBytes);
  const int code = errno;
  buffer_.resize(held + static_cast<std::size_t>(n > 0 ? n : 0));
  errno = code;
  if (n < 0 && errno == EINTR)
    return Error{.what_to_do = ErrorClass::kRetriable, .code = EINTR, .message = "interrupted"};
  if (n < 0) return failed(ErrorClass::kFatal, "cannot read the lines");
  ended_ = n == 0;
  return Done{};
}

}  // namespace reseq::ndjson
