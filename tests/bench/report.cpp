#include "tests/bench/report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/assert.h"

namespace reseq::bench {

namespace {

// Four digits that count, so that 250000 and 3.821 stand in one column.
std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.3f" : value < 100 ? "%.2f" : value < 1000 ? "%.1f" : "%.0f", value);
  return text;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text + " ";
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text + " ";
}

}  // namespace

double Series::median() const {
  RESEQ_ASSERT(!values_.empty(), "the median of nothing");
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Series::smallest() const {
  return *std::min_element(values_.begin(), values_.end());
}

double Series::largest() const {
  return *std::max_element(values_.begin(), values_.end());
}

Series& Report::series(const std::string& part, const std::string& contestant, const std::string& unit) {
  for (Row& row : rows_)
    if (row.part == part && row.contestant == contestant && row.unit == unit) return row.series;
  return rows_.emplace_back(Row{part, contestant, unit, {}}).series;
}

const Series* Report::find(const std::string& part, const std::string& contestant, const std::string& unit) const {
  for (const Row& row : rows_)
    if (row.part == part && row.contestant == contestant && row.unit == unit) return &row.series;
  return nullptr;
}

void Report::add_ratio(const std::string& name, const Series* of, const Series* over, Goal goal, double target) {
  if (of == nullptr || over == nullptr) return;
  add({.name = name, .value = of->median() / over->median(), .goal = goal, .target = target});
}

std::string Report::table() const {
  std::string text = padded("measured", 22) + padded("", 18) + padded("", 16) + right("median", 9) + right("min", 9) +
                     right("max", 9) + "\n";
  for (const Row& row : rows_)
    text += padded(row.part, 22) + padded(row.contestant, 18) + padded(row.unit, 16) +
            right(text_of(row.series.median()), 9) + right(text_of(row.series.smallest()), 9) +
            right(text_of(row.series.largest()), 9) + "\n";
  text += "\n" + padded("metric", 48) + right("value", 9) + "target       of target\n";
  for (const Metric& metric : metrics_)
    text += padded(metric.name, 48) + right(text_of(metric.value), 9) +
            padded((metric.goal == Goal::kAtLeast ? ">= " : "<= ") + text_of(metric.target), 12) +
            padded(text_of(metric.value / metric.target), 9) + (metric.met() ? "met" : "missed") + "\n";
  return text;
}

std::string Report::json() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const Metric& metric : metrics_)
    all[metric.name] = {{"value", metric.value}, {"target", metric.target}, {"ok", metric.met()}};
  return all.dump(2) + "\n";
}

}  // namespace reseq::bench
