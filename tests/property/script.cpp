// How a script is drawn, cut down and printed.
#include "tests/property/script.h"

#include <ostream>
#include <string_view>
#include <utility>

namespace reseq::property {
namespace {

constexpr auto kActions = static_cast<std::size_t>(Action::kCount);
constexpr auto kSettings = static_cast<std::size_t>(Setting::kCount);

struct Weight {
  std::string_view name;
  std::uint32_t weight;
};

// In the order of Action.
constexpr std::array<Weight, kActions> kWeights = {{
    {"request", 22},     {"batch", 16},   {"deliver", 22},     {"delete", 5},
    {"late_request", 3}, {"resend", 4},   {"reuse", 2},        {"reprocess", 3},
    {"epoch", 1},        {"reset", 1},    {"lose", 1},         {"unregister", 4},
    {"fork", 4},         {"register", 3}, {"stray_result", 3}, {"stray_unregister", 4},
    {"clock", 4},        {"floor", 1},    {"refused", 1},      {"overdue", 3},
    {"expire", 1},       {"by_hand", 2},
}};

constexpr std::uint32_t total_weight() {
  std::uint32_t total = 0;
  for (const Weight& each : kWeights) total += each.weight;
  return total;
}

Action draw_action(std::uint64_t random) {
  auto left = static_cast<std::uint32_t>(random % total_weight());
  std::size_t action = 0;
  while (left >= kWeights[action].weight) left -= kWeights[action++].weight;
  return static_cast<Action>(action);
}

std::uint8_t byte_of(std::uint64_t word, unsigned index) {
  return static_cast<std::uint8_t>(word >> (8 * index));
}

Step draw_step(std::uint64_t random) {
  return {draw_action(random >> 40), byte_of(random, 0), byte_of(random, 1),
          byte_of(random, 2),        byte_of(random, 3), byte_of(random, 4)};
}

Script draw(rc::Random random, int size) {
  Script script;
  for (std::uint8_t& setting : script.settings) setting = byte_of(random.next(), 0);
  const std::uint64_t span = 8 + static_cast<std::uint64_t>(size);
  script.steps.resize(4 + random.next() % span);
  for (Step& step : script.steps) step = draw_step(random.next());
  return script;
}

void without_chunks(const Script& script, std::vector<Script>& simpler) {
  for (std::size_t length = script.steps.size(); length > 0; length /= 2)
    for (std::size_t first = 0; first + length <= script.steps.size(); first += length) {
      Script shorter{script.settings, {}};
      const auto begin = script.steps.begin();
      shorter.steps.assign(begin, begin + static_cast<std::ptrdiff_t>(first));
      shorter.steps.insert(shorter.steps.end(), begin + static_cast<std::ptrdiff_t>(first + length),
                           script.steps.end());
      simpler.push_back(std::move(shorter));
    }
}

void with_smaller(const Script& script, std::uint8_t& (*field)(Script&, std::size_t), std::size_t index,
                  std::vector<Script>& simpler) {
  Script copy = script;
  const std::uint8_t value = field(copy, index);
  if (value == 0) return;
  for (const std::uint8_t smaller :
       {std::uint8_t{0}, static_cast<std::uint8_t>(value / 2), static_cast<std::uint8_t>(value - 1)}) {
    field(copy, index) = smaller;
    simpler.push_back(copy);
  }
}

rc::Seq<Script> simpler_than(const Script& script) {
  std::vector<Script> simpler;
  without_chunks(script, simpler);
  for (std::size_t i = 0; i < kSettings; ++i)
    with_smaller(
        script, [](Script& s, std::size_t at) -> std::uint8_t& { return s.settings[at]; }, i, simpler);
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    with_smaller(
        script, [](Script& s, std::size_t at) -> std::uint8_t& { return s.steps[at].document; }, i, simpler);
    with_smaller(
        script, [](Script& s, std::size_t at) -> std::uint8_t& { return s.steps[at].pick; }, i, simpler);
    with_smaller(
        script, [](Script& s, std::size_t at) -> std::uint8_t& { return s.steps[at].targets; }, i, simpler);
    with_smaller(
        script, [](Script& s, std::size_t at) -> std::uint8_t& { return s.steps[at].flavour; }, i, simpler);
    with_smaller(
        script, [](Script& s, std::size_t at) -> std::uint8_t& { return s.steps[at].amount; }, i, simpler);
  }
  return rc::seq::fromContainer(std::move(simpler));
}

}  // namespace

std::string_view name_of(Action action) {
  return kWeights[static_cast<std::size_t>(action)].name;
}

std::ostream& operator<<(std::ostream& out, const Script& script) {
  out << "settings";
  for (const std::uint8_t setting : script.settings) out << ' ' << unsigned{setting};
  for (const Step& step : script.steps)
    out << "\n  " << name_of(step.action) << " document=" << unsigned{step.document} << " pick=" << unsigned{step.pick}
        << " targets=" << unsigned{step.targets} << " flavour=" << unsigned{step.flavour}
        << " amount=" << unsigned{step.amount};
  return out;
}

rc::Gen<Script> scripts() {
  return
      [](const rc::Random& random, int size) { return rc::shrinkable::shrinkRecur(draw(random, size), &simpler_than); };
}

}  // namespace reseq::property
