// Exposition: metrics as the text that Prometheus scrapes (format 0.0.4). Written by prometheus-cpp; this file only
// makes a family of samples easy to say.
// Thread rule: one thread.
#pragma once

#include <initializer_list>
#include <prometheus/metric_family.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/histogram.h"

namespace reseq::metrics {

using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

class Exposition {
 public:
  // Each begins a family; the samples that follow belong to it. Counters end in `_total`, units are seconds and bytes.
  void counter(std::string name, std::string help) { begin(std::move(name), std::move(help), Type::Counter); }
  void gauge(std::string name, std::string help) { begin(std::move(name), std::move(help), Type::Gauge); }
  void histogram(std::string name, std::string help) { begin(std::move(name), std::move(help), Type::Histogram); }

  // REQUIRES: a family of counters or gauges was begun.
  void add(Labels labels, double value);
  void add(double value) { add({}, value); }
  // REQUIRES: a family of histograms was begun. `unit`: what one step of the histogram is, in the unit of the metric.
  void add(Labels labels, const Histogram& histogram, double unit);

  // Families without a sample are left out.
  [[nodiscard]] std::string text() const;

 private:
  using Type = prometheus::MetricType;
  void begin(std::string name, std::string help, Type type);
  prometheus::ClientMetric& sample(Labels labels);

  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace reseq::metrics
