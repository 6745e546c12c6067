#include "cli/progress.h"

#include <chrono>
#include <cstdio>
#include <utility>

namespace reseq::cli {

namespace {

constexpr std::chrono::seconds kTellEvery{3};

}  // namespace

runtime::GoOn progress_of(std::string topic) {
  using Clock = std::chrono::steady_clock;
  return [topic = std::move(topic), told_at = Clock::now()](Partition partition, Offset at, Offset end) mutable {
    const auto now = Clock::now();
    if (now - told_at < kTellEvery) return true;
    told_at = now;
    std::fprintf(stderr, "reading %s, partition %d: %lld of %lld\n", topic.c_str(), partition.value(),
                 static_cast<long long>(at.value()), static_cast<long long>(end.value()));
    return true;
  };
}

}  // namespace reseq::cli
