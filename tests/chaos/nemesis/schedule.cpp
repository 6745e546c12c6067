#include "tests/chaos/nemesis/schedule.h"

#include <algorithm>

#include "tests/simulation/kafka/draw.h"

namespace reseq::chaos {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirst{2'000};
constexpr milliseconds kGapShortest{500};
constexpr std::uint64_t kGapMoreMs = 3'000;
constexpr int kDrawsMax = 20;  // until one is found that fits

std::size_t draw_kind(simulation::Draw& draw, const std::vector<FaultKind>& kinds) {
  unsigned all = 0;
  for (const FaultKind& kind : kinds) all += kind.weight;
  std::uint64_t drawn = draw.below(all);
  std::size_t i = 0;
  while (drawn >= kinds[i].weight) drawn -= kinds[i++].weight;
  return i;
}

bool fits(const std::vector<Planned>& plan, const Planned& next) {
  std::size_t others = 0;
  for (const Planned& one : plan) {
    if (one.end < next.begin) continue;
    if (one.kind == next.kind && one.end > one.begin) return false;
    if (one.end > next.begin) ++others;
  }
  return others < kAtOnce;
}

}  // namespace

std::vector<Planned> draw_schedule(std::uint64_t seed, milliseconds length, const std::vector<FaultKind>& kinds) {
  simulation::Draw draw(seed);
  std::vector<Planned> plan;
  milliseconds now = kFirst;
  while (now < length) {
    for (int tries = 0; tries < kDrawsMax; ++tries) {
      const std::size_t kind = draw_kind(draw, kinds);
      const auto spread = static_cast<std::uint64_t>((kinds[kind].longest - kinds[kind].shortest).count()) + 1;
      const milliseconds lasts = kinds[kind].shortest + milliseconds(static_cast<std::int64_t>(draw.below(spread)));
      const Planned next{.begin = now, .end = std::min(now + lasts, length), .kind = kind, .seed = draw.next()};
      if (!fits(plan, next)) continue;
      plan.push_back(next);
      break;
    }
    now += kGapShortest + milliseconds(static_cast<std::int64_t>(draw.below(kGapMoreMs)));
  }
  return plan;
}

}  // namespace reseq::chaos
