#include "consumers/remote/tally.h"

#include <spdlog/spdlog.h>
#include <utility>

#include "base/log.h"

namespace reseq::remote {
namespace {

constexpr std::chrono::seconds kTellAgain{30};

std::int64_t seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

std::string_view name_of(Standing::Kind kind) {
  switch (kind) {
    case Standing::Kind::kUnknown:
      return "unknown";
    case Standing::Kind::kGood:
      return "good";
    case Standing::Kind::kAway:
      return "away";
    case Standing::Kind::kRefuses:
      return "refuses";
  }
  return "unknown";
}

bool is_trouble(Standing::Kind kind) {
  return kind == Standing::Kind::kAway || kind == Standing::Kind::kRefuses;
}

void Tally::add(const Counts& more) {
  const std::lock_guard lock(mutex_);
  counts_.records += more.records;
  counts_.written += more.written;
  counts_.not_newer += more.not_newer;
  counts_.not_for_us += more.not_for_us;
  counts_.malformed += more.malformed;
  counts_.refused += more.refused;
  counts_.retried += more.retried;
  counts_.batches += more.batches;
  counts_.fenced += more.fenced;
  counts_.dropped += more.dropped;
}

void Tally::good() {
  const std::lock_guard lock(mutex_);
  if (standing_.kind == Standing::Kind::kGood) return;
  const bool was_away = is_trouble(standing_.kind);
  standing_ = {.kind = Standing::Kind::kGood, .since = std::chrono::system_clock::now(), .words = {}};
  if (was_away) spdlog::info("server=good seconds={}", seconds_since(trouble_since_));
}

void Tally::trouble(const Error& error) {
  const std::lock_guard lock(mutex_);
  const Standing::Kind kind =
      error.what_to_do == ErrorClass::kInvalid ? Standing::Kind::kRefuses : Standing::Kind::kAway;
  const auto now = std::chrono::steady_clock::now();
  const bool is_news = standing_.kind != kind;
  if (is_news) standing_.since = std::chrono::system_clock::now();
  if (!is_trouble(standing_.kind)) trouble_since_ = now;
  standing_.kind = kind;
  standing_.words = error.message;
  if (!is_news && now - told_ < kTellAgain) return;
  told_ = now;
  const std::string words = log::outside(error.message);
  if (kind == Standing::Kind::kRefuses)
    spdlog::error("server=refuses seconds={} nothing is lost, it goes on when this is mended words={}",
                  seconds_since(trouble_since_), words);
  else
    spdlog::warn("server=away seconds={} nothing is lost, it goes on when it answers again words={}",
                 seconds_since(trouble_since_), words);
}

void Tally::publish(Places places) {
  const std::lock_guard lock(mutex_);
  places_ = std::move(places);
}

Counts Tally::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

Standing Tally::standing() const {
  const std::lock_guard lock(mutex_);
  return standing_;
}

Places Tally::places() const {
  const std::lock_guard lock(mutex_);
  return places_;
}

}  // namespace reseq::remote
