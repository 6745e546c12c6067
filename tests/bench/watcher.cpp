#include "tests/bench/watcher.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "kafka/group_consumer.h"
#include "tests/bench/progress.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

constexpr std::chrono::seconds kSeenLimit{60};
constexpr Milliseconds kWatcherCallLimit{30'000};

double percentile(std::vector<double> sorted, double part) {
  std::sort(sorted.begin(), sorted.end());
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(part * static_cast<double>(sorted.size())))];
}

}  // namespace

Watcher::Watcher(const Site& site, std::string topic, std::size_t documents)
    : topic_(std::move(topic)),
      seen_(documents),
      thread_([this, &site](const std::stop_token& stopped) { watch(site, stopped); }) {}

void Watcher::await(std::size_t document) const {
  const std::int64_t until = now_ns() + kSeenLimit / std::chrono::nanoseconds(1);
  while (seen(document) == 0) {
    check_interrupted();
    if (now_ns() > until) throw std::runtime_error(topic_ + ": record " + std::to_string(document) + " is missing");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void Watcher::watch(const Site& site, const std::stop_token& stopped) {
  auto reader = test::good(kafka::GroupConsumer::open(site.connection()));
  (void)test::good(reader->assign_all(topic_, {}, kWatcherCallLimit));
  while (!stopped.stop_requested()) {
    const auto record = test::good(reader->poll(Milliseconds(100)));
    if (!record) continue;
    const std::string id(record->key.value_or(""));
    Moment& seen = seen_.at(std::stoull(id.substr(id.find('-') + 1)));
    if (seen == 0) {
      seen = now_ns();
      ++count_;
    } else {
      ++repeated_;
    }
  }
}

void add_latencies(Report& report, const std::string& part, const std::string& contestant,
                   const std::vector<double>& ms) {
  const double half = percentile(ms, 0.5);
  const double most = percentile(ms, 0.99);
  report.series(part, contestant, "ms p50").add(half);
  report.series(part, contestant, "ms p99").add(most);
  std::fprintf(stderr, "%s %s: p50 %.1f ms, p99 %.1f ms\n", part.c_str(), contestant.c_str(), half, most);
}

}  // namespace reseq::bench
