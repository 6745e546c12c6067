#include "tests/chaos/run/progress_watch.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace reseq::chaos {

namespace {

constexpr std::chrono::milliseconds kEvery{1'000};
constexpr std::chrono::milliseconds kLook{50};
constexpr Milliseconds kAskLimit{3'000};
constexpr std::array<const char*, 2> kInputs = {".requests", ".commands"};

}  // namespace

ProgressWatch::ProgressWatch(kafka::Connection connection, std::string application_id, int partitions)
    : connection_(std::move(connection)),
      application_id_(std::move(application_id)),
      places_(static_cast<std::size_t>(partitions)) {
  // What the library says of brokers that are away is no news in a chaos run.
  connection_.log = [](int, std::string_view, std::string_view) {};
  forgive();
  thread_ = std::thread([this] { run(); });
}

ProgressWatch::~ProgressWatch() {
  stop_ = true;
  thread_.join();
}

std::int64_t ProgressWatch::seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(Clock::now().time_since_epoch()).count();
}

Stall ProgressWatch::now() const {
  Stall longest;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const std::chrono::seconds lasts(seconds_now() - places_[i].since_s);
    if (lasts > longest.lasts) longest = {.partition = static_cast<int>(i), .lasts = lasts};
  }
  return longest;
}

void ProgressWatch::forgive() {
  for (Place& place : places_) place.since_s = seconds_now();
}

void ProgressWatch::run() {
  std::unique_ptr<kafka::Admin> admin;
  while (!stop_) {
    if (!admin)
      if (auto opened = kafka::Admin::open(connection_)) admin = std::move(opened).value();
    if (!admin || !ask(*admin)) forgive();
    for (const auto until = Clock::now() + kEvery; Clock::now() < until && !stop_;) std::this_thread::sleep_for(kLook);
  }
}

bool ProgressWatch::ask(kafka::Admin& admin) {
  std::vector<std::int64_t> positions(places_.size());
  std::vector<bool> waits(places_.size());
  for (const char* input : kInputs) {
    const std::string topic = application_id_ + input;
    const auto next = admin.committed(application_id_, topic, kAskLimit);
    const auto ends = admin.stable_ends(topic, kAskLimit);
    if (!next || !ends) return false;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      positions[i] += next.value().at(i).offset.value();
      waits[i] = waits[i] || next.value().at(i).offset < ends.value().at(i).offset;
    }
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (waits[i] && positions[i] == places_[i].position) continue;
    places_[i].position = positions[i];
    places_[i].since_s = seconds_now();
  }
  return true;
}

}  // namespace reseq::chaos
