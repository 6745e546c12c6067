// Step: one part of a record's way through the resequencer, measured alone (docs/performance.md, "The budget").
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace reseq::bench {

class Step {
 public:
  virtual ~Step() = default;
  // In front of every run, not measured.
  virtual void prepare() {}
  virtual void run() = 0;
  // That one run handles: what its cost is divided by.
  [[nodiscard]] virtual std::uint64_t records() const = 0;
};

struct Size {
  std::uint64_t known = 0;  // documents of the state
  std::uint64_t batch = 0;  // records of a run
};

struct NamedStep {
  std::string_view name;
  std::string_view what;
  std::function<std::unique_ptr<Step>(const Size&)> make;
};

template <typename AStep>
NamedStep named(std::string_view name, std::string_view what) {
  return {name, what, [](const Size& size) { return std::make_unique<AStep>(size); }};
}

// CPU time of this thread in nanoseconds for each record of one run.
[[nodiscard]] double cpu_ns_each(Step& step);

// In the order of a record's way.
[[nodiscard]] std::vector<NamedStep> all_steps();
[[nodiscard]] std::vector<NamedStep> codec_steps();
[[nodiscard]] std::vector<NamedStep> engine_steps();
[[nodiscard]] std::vector<NamedStep> journal_steps();
[[nodiscard]] std::vector<NamedStep> store_steps();

}  // namespace reseq::bench
