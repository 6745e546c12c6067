// How a history is drawn, cut down and printed.
#include "tests/journal/history.h"

#include <ostream>
#include <utility>

namespace reseq::journal {
namespace {

constexpr auto kActions = static_cast<std::size_t>(Action::kCount);

struct Weight {
  std::string_view name;
  std::uint32_t weight;
};

// In the order of Action.
constexpr std::array<Weight, kActions> kWeights = {{
    {"request", 26},
    {"batch", 24},
    {"answer", 16},
    {"clock", 18},
    {"delete", 4},
    {"late_request", 5},
    {"resend", 5},
    {"reuse", 1},
    {"lose", 4},
    {"heartbeat", 4},
    {"unregister", 3},
    {"fork", 3},
    {"register", 2},
    {"register_delete", 2},
    {"fork_delete", 2},
    {"stray_result", 2},
    {"stray_unregister", 2},
    {"expire", 2},
    {"now", 5},
    {"postpone", 5},
    {"fail", 8},
    {"stray_fail", 2},
    {"down", 10},
    {"resume", 1},
}};

constexpr std::uint32_t total_weight() {
  std::uint32_t total = 0;
  for (const Weight& each : kWeights) total += each.weight;
  return total;
}

std::uint8_t byte_of(std::uint64_t word, unsigned index) {
  return static_cast<std::uint8_t>(word >> (8 * index));
}

Step draw_step(std::uint64_t random) {
  auto left = static_cast<std::uint32_t>((random >> 40) % total_weight());
  std::size_t action = 0;
  while (left >= kWeights[action].weight) left -= kWeights[action++].weight;
  return {static_cast<Action>(action), byte_of(random, 0), byte_of(random, 1),
          byte_of(random, 2),          byte_of(random, 3), byte_of(random, 4)};
}

History draw(rc::Random random, int size) {
  History history;
  for (std::uint8_t& setting : history.settings) setting = byte_of(random.next(), 0);
  history.steps.resize(4 + random.next() % (8 + static_cast<std::uint64_t>(size)));
  for (Step& step : history.steps) step = draw_step(random.next());
  return history;
}

void without_chunks(const History& history, std::vector<History>& simpler) {
  for (std::size_t length = history.steps.size(); length > 0; length /= 2)
    for (std::size_t first = 0; first + length <= history.steps.size(); first += length) {
      History shorter = history;
      const auto begin = shorter.steps.begin() + static_cast<std::ptrdiff_t>(first);
      shorter.steps.erase(begin, begin + static_cast<std::ptrdiff_t>(length));
      simpler.push_back(std::move(shorter));
    }
}

template <typename Field>
void with_smaller(const History& history, const Field& field, std::vector<History>& simpler) {
  History copy = history;
  const std::uint8_t value = field(copy);
  if (value == 0) return;
  for (const int smaller : {0, value / 2, value - 1}) {
    field(copy) = static_cast<std::uint8_t>(smaller);
    simpler.push_back(copy);
  }
}

rc::Seq<History> simpler_than(const History& history) {
  std::vector<History> simpler;
  without_chunks(history, simpler);
  for (std::size_t i = 0; i < kSettings; ++i)
    with_smaller(
        history, [i](History& h) -> std::uint8_t& { return h.settings[i]; }, simpler);
  for (std::size_t i = 0; i < history.steps.size(); ++i)
    for (std::uint8_t Step::*field : {&Step::document, &Step::pick, &Step::targets, &Step::flavour, &Step::amount})
      with_smaller(
          history, [i, field](History& h) -> std::uint8_t& { return h.steps[i].*field; }, simpler);
  return rc::seq::fromContainer(std::move(simpler));
}

}  // namespace

Rules rules_of(const History& history) {
  const auto& set = history.settings;
  constexpr std::array<unsigned, 3> kIdleFrom = {200, 150, 256};
  Rules rules;
  rules.in_flight_max = 1U + set[0] % 3U;
  rules.one_at_a_time = set[1] % 4 != 3;
  rules.idle_from = kIdleFrom[set[2] % 3U];
  rules.consolidate_ms = set[3] % 4 == 2 ? 40 : 0;
  rules.consolidate_measured = set[3] % 4 == 3;
  rules.timeouts_max = set[4] % 3U;
  rules.last_attempt_only = set[5] % 4 == 3;
  rules.skips_unchanged = set[5] / 4 % 3 == 2;
  rules.retries_max = set[6] % 4U;
  rules.repeats_max = 1U + set[6] / 4U % 3U;
  rules.inherit_failed = set[6] / 12U % 2U == 1;
  rules.potent = TargetSet(set[8] % 4U == 3 ? 2U : 0U);
  rules.breaker_documents = set[7] % 4U == 3 ? 1U : set[7] % 4U;
  return rules;
}

std::ostream& operator<<(std::ostream& out, const History& history) {
  out << describe(rules_of(history));
  for (const Step& step : history.steps)
    out << "\n  " << kWeights[static_cast<std::size_t>(step.action)].name << " document=" << unsigned{step.document}
        << " pick=" << unsigned{step.pick} << " targets=" << unsigned{step.targets}
        << " flavour=" << unsigned{step.flavour} << " amount=" << unsigned{step.amount};
  return out;
}

rc::Gen<History> histories() {
  return
      [](const rc::Random& random, int size) { return rc::shrinkable::shrinkRecur(draw(random, size), &simpler_than); };
}

}  // namespace reseq::journal
