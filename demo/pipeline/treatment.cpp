#include "demo/pipeline/treatment.h"

#include "producers/load/random.h"

namespace reseq::demo {
namespace {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}

  std::uint64_t next() { return random_.next(); }
  // Uniform from [low, high]; the bias of % is far below what delays could show.
  Milliseconds between(std::int64_t low, std::int64_t high) {
    return Milliseconds(low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1)));
  }
  bool percent(std::uint64_t chance) { return next() % 100 < chance; }

 private:
  load::Random random_;
};

Milliseconds work_time(Draws& draws) {
  const std::uint64_t share = draws.next() % 100;
  if (share < 75) return draws.between(1, 15);
  if (share < 92) return draws.between(200, 1'500);
  return draws.between(2'000, kLongestWork.value());
}

}  // namespace

std::uint64_t mix(std::uint64_t hash, std::string_view bytes) {
  hash = (hash ^ bytes.size()) * 0x100000001b3U;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return hash;
}

Treatment treatment_of(Seed seed, std::string_view target, std::string_view id, std::string_view sequence) {
  Draws draws(mix(mix(mix(kHashBasis ^ seed.value(), target), id), sequence));
  Treatment treatment{.work = work_time(draws), .retry = {}, .duplicate = {}};
  if (draws.percent(5)) treatment.retry = draws.between(100, kLongestRetry.value());
  if (draws.percent(5)) treatment.duplicate = draws.between(50, kLongestDuplicate.value());
  return treatment;
}

}  // namespace reseq::demo
