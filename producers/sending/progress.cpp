#include "producers/sending/progress.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace reseq::sending {
namespace {

constexpr std::size_t kBarCells = 30;

std::string clock_text(std::chrono::seconds time) {
  char text[32];
  const auto s = static_cast<long long>(time.count());
  if (s < 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld", s / 60, s % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  }
  return text;
}

}  // namespace

std::optional<std::chrono::seconds> Progress::left() const {
  if (!total.has_value() || passed() == 0 || passed() > *total) return std::nullopt;
  const double per_item = static_cast<double>(elapsed.count()) / static_cast<double>(passed());
  const double left_ms = per_item * static_cast<double>(*total - passed());
  return std::chrono::seconds(static_cast<std::int64_t>((left_ms + 999.0) / 1000.0));
}

std::string progress_json(const Progress& progress) {
  nlohmann::ordered_json json;
  json["sent"] = progress.sent;
  json["skipped"] = progress.skipped;
  json["total"] = progress.total.has_value() ? nlohmann::ordered_json(*progress.total) : nlohmann::ordered_json();
  json["elapsed_ms"] = progress.elapsed.count();
  json["done"] = progress.done;
  return json.dump();
}

std::string progress_bar(const Progress& progress) {
  const double seconds = static_cast<double>(std::max<std::int64_t>(progress.elapsed.count(), 1)) / 1000.0;
  char text[160];
  if (!progress.total.has_value()) {
    std::snprintf(text, sizeof text, "%llu sent  %.0f/s", static_cast<unsigned long long>(progress.sent),
                  static_cast<double>(progress.passed()) / seconds);
    return text;
  }
  const std::uint64_t whole = std::max<std::uint64_t>(*progress.total, 1);
  const double share = std::min(1.0, static_cast<double>(progress.passed()) / static_cast<double>(whole));
  const auto cells = static_cast<std::size_t>(share * static_cast<double>(kBarCells));
  const std::string bar = std::string(cells, '#') + std::string(kBarCells - cells, ' ');
  const auto left = progress.left();
  std::snprintf(text, sizeof text, "[%s] %3.0f%%  %llu/%llu  %s left", bar.c_str(), share * 100.0,
                static_cast<unsigned long long>(progress.passed()), static_cast<unsigned long long>(*progress.total),
                left.has_value() ? clock_text(*left).c_str() : "?");
  return std::string(text).substr(0, 78);
}

Result<ProgressReport> ProgressReport::open(const std::optional<std::filesystem::path>& file, bool bar) {
  if (!file.has_value()) return ProgressReport(nullptr, bar);
  std::FILE* opened = std::fopen(file->c_str(), "we");
  if (opened == nullptr) {
    return Error{.what_to_do = ErrorClass::kInvalid,
                 .code = errno,
                 .message = "cannot write " + file->string() + ": " + std::strerror(errno)};
  }
  return ProgressReport(opened, bar);
}

ProgressReport::ProgressReport(ProgressReport&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)),
      bar_(std::exchange(other.bar_, false)),
      drawn_(std::exchange(other.drawn_, false)) {}

ProgressReport::~ProgressReport() {
  clear();
  if (file_ != nullptr) std::fclose(file_);
}

void ProgressReport::show(const Progress& progress) {
  if (file_ != nullptr) {
    const std::string line = progress_json(progress) + "\n";
    std::fwrite(line.data(), 1, line.size(), file_);
    std::fflush(file_);
  }
  if (bar_) {
    std::fprintf(stderr, "\r%-78s", progress_bar(progress).c_str());
    drawn_ = true;
  }
}

void ProgressReport::clear() {
  if (drawn_) std::fputc('\n', stderr);
  drawn_ = false;
}

}  // namespace reseq::sending
