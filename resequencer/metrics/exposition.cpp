#include "metrics/exposition.h"

#include <algorithm>
#include <cmath>
#include <prometheus/text_serializer.h>

#include "base/assert.h"

namespace reseq::metrics {

void Exposition::begin(std::string name, std::string help, Type type) {
  families_.push_back({std::move(name), std::move(help), type, {}});
}

prometheus::ClientMetric& Exposition::sample(Labels labels) {
  RESEQ_ASSERT(!families_.empty(), "a sample without a family");
  prometheus::ClientMetric& one = families_.back().metric.emplace_back();
  for (const auto& [name, value] : labels) one.label.push_back({std::string(name), std::string(value)});
  return one;
}

void Exposition::add(Labels labels, double value) {
  prometheus::ClientMetric& one = sample(labels);
  RESEQ_ASSERT(families_.back().type != Type::Histogram, "one number for a histogram");
  (families_.back().type == Type::Counter ? one.counter.value : one.gauge.value) = value;
}

void Exposition::add(Labels labels, const Histogram& histogram, double unit) {
  prometheus::ClientMetric& one = sample(labels);
  RESEQ_ASSERT(families_.back().type == Type::Histogram, "a histogram for a number");
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < Histogram::kBuckets; ++i) {
    below += histogram.in_bucket(i);
    const bool last = i + 1 == Histogram::kBuckets;
    one.histogram.bucket.push_back({below, last ? INFINITY : static_cast<double>(Histogram::upper(i)) * unit});
  }
  one.histogram.sample_count = below;
  one.histogram.sample_sum = static_cast<double>(histogram.sum()) * unit;
}

std::string Exposition::text() const {
  std::vector<prometheus::MetricFamily> said;
  std::copy_if(families_.begin(), families_.end(), std::back_inserter(said),
               [](const prometheus::MetricFamily& family) { return !family.metric.empty(); });
  return prometheus::TextSerializer().Serialize(said);
}

}  // namespace reseq::metrics
