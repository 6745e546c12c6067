#include "tests/orders/history.h"

#include <array>
#include <random>
#include <string_view>

namespace reseq::orders {
namespace {

#ifdef RESEQ_SANITIZED
constexpr int kCases = 2'000;
#else
constexpr int kCases = 100'000;
#endif
constexpr std::uint64_t kSeed = 20'241'130;

struct Weight {
  std::string_view name;
  unsigned weight;
};

// In the order of Action.
constexpr std::array<Weight, static_cast<std::size_t>(Action::kCount)> kWeights = {{
    {"request", 30},
    {"answer", 40},
    {"batch", 30},
    {"clock", 14},
    {"lose", 6},
    {"late", 6},
    {"resend", 6},
    {"reuse", 1},
    {"delete", 4},
    {"unregister", 5},
    {"stray", 4},
    {"register", 1},
    {"skip", 4},
    {"expire", 2},
    {"reprocess", 3},
}};

constexpr unsigned total_weight() {
  unsigned total = 0;
  for (const Weight& each : kWeights) total += each.weight;
  return total;
}

Step draw_step(std::mt19937_64& random) {
  unsigned left = static_cast<unsigned>(random() % total_weight());
  std::size_t action = 0;
  while (left >= kWeights[action].weight) left -= kWeights[action++].weight;
  const std::uint64_t bytes = random();
  const auto byte = [bytes](unsigned index) { return static_cast<std::uint8_t>(bytes >> (8 * index)); };
  return {static_cast<Action>(action), byte(0), byte(1), byte(2), byte(3)};
}

History draw(std::mt19937_64& random) {
  History history(5 + random() % 90);
  for (Step& step : history) step = draw_step(random);
  return history;
}

// As long as leaving steps out keeps it wrong.
void cut_down(const Play& play, Failure& failure) {
  for (std::size_t length = failure.history.size(); length > 0; length /= 2)
    for (std::size_t first = 0; first < failure.history.size();) {
      History shorter = failure.history;
      const auto begin = shorter.begin() + static_cast<std::ptrdiff_t>(first);
      shorter.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(length, shorter.size() - first)));
      const std::string violation = play(shorter);
      if (violation.empty()) {
        first += length;
      } else {
        failure.history = shorter;
        failure.violation = violation;
      }
    }
}

}  // namespace

std::string describe(const History& history) {
  std::string text;
  for (const Step& step : history)
    text += std::string(kWeights[static_cast<std::size_t>(step.action)].name) +
            " document=" + std::to_string(step.document) + " pick=" + std::to_string(step.pick) +
            " targets=" + std::to_string(step.targets) + " amount=" + std::to_string(step.amount) + "\n";
  return text;
}

Amount suite_amount() {
  return test::amount_of_suite(kCases, kSeed);
}

std::optional<Failure> check(const Amount& amount, const Play& play) {
  std::mt19937_64 random(amount.seed);
  for (int i = 1; i <= amount.cases; ++i) {
    Failure failure{i, "", draw(random)};
    failure.violation = play(failure.history);
    if (failure.violation.empty()) continue;
    cut_down(play, failure);
    return failure;
  }
  return std::nullopt;
}

}  // namespace reseq::orders
