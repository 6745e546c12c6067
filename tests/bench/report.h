// Figures of the benchmark: what was measured, and the metrics made of it, as a table and as JSON.
// Thread rule: one thread.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace reseq::bench {

// Values of one figure of one contestant, one per run.
class Series {
 public:
  void add(double value) { values_.push_back(value); }
  // REQUIRES: at least one value. The median of an even number of values lies between the middle two.
  [[nodiscard]] double median() const;
  [[nodiscard]] double smallest() const;
  [[nodiscard]] double largest() const;

 private:
  std::vector<double> values_;
};

enum class Goal : unsigned char { kAtLeast, kAtMost };

struct Metric {
  std::string name;
  double value = 0;
  Goal goal = Goal::kAtLeast;
  double target = 0;
  [[nodiscard]] bool met() const { return goal == Goal::kAtLeast ? value >= target : value <= target; }
};

class Report {
 public:
  // "intake", "resequencer", "per second": made at the first call. The reference stays good.
  Series& series(const std::string& part, const std::string& contestant, const std::string& unit);
  // Null: this contestant did not run.
  [[nodiscard]] const Series* find(const std::string& part, const std::string& contestant,
                                   const std::string& unit) const;

  void add(Metric metric) { metrics_.push_back(std::move(metric)); }
  // Median of one contestant over that of another, if both ran.
  void add_ratio(const std::string& name, const Series* of, const Series* over, Goal goal, double target);

  [[nodiscard]] std::string table() const;
  // {"metric": {"value": .., "target": .., "ok": ..}, ..}
  [[nodiscard]] std::string json() const;

 private:
  struct Row {
    std::string part;
    std::string contestant;
    std::string unit;
    Series series;
  };
  std::deque<Row> rows_;
  std::vector<Metric> metrics_;
};

}  // namespace reseq::bench
