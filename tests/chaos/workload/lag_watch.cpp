#include "tests/chaos/workload/lag_watch.h"

#include <chrono>
#include <memory>
#include <utility>

#include "kafka/admin.h"

namespace reseq::chaos {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kAskEvery{250};
constexpr std::chrono::seconds kBlindMax{10};
constexpr Milliseconds kLagAskLimit{2'000};

}  // namespace

std::string pipeline_group(const std::string& application_id) {
  return application_id + ".pipeline";
}

LagWatch::LagWatch(kafka::Connection connection, std::string application_id, std::uint64_t records_max)
    : connection_(std::move(connection)),
      application_id_(std::move(application_id)),
      records_max_(static_cast<std::int64_t>(records_max)),
      thread_([this] { run(); }) {}

LagWatch::~LagWatch() {
  stop_ = true;
  thread_.join();
}

void LagWatch::run() {
  auto opened = kafka::Admin::open(connection_);
  if (!opened) return;  // behind for ever: the producers cannot be opened either
  kafka::Admin& admin = *opened.value();
  Clock::time_point seen = Clock::now() - kBlindMax;
  while (!stop_) {
    const auto requests = admin.lag(application_id_, application_id_ + ".requests", kLagAskLimit);
    const auto work = admin.lag(pipeline_group(application_id_), application_id_ + ".work", kLagAskLimit);
    if (requests && work) {
      seen = Clock::now();
      behind_ = requests.value() > records_max_ || work.value() > records_max_;
    } else if (Clock::now() - seen > kBlindMax) {
      behind_ = true;
    }
    std::this_thread::sleep_for(kAskEvery);
  }
}

}  // namespace reseq::chaos
