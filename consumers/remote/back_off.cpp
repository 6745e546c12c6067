#include "consumers/remote/back_off.h"

#include <algorithm>

namespace reseq::remote {

std::chrono::milliseconds BackOff::next(std::uint64_t random) {
  constexpr unsigned kDoublingsMax = 20;
  const std::int64_t whole = std::min<std::int64_t>(limits_.first.count() << tries_, limits_.longest.count());
  if (tries_ < kDoublingsMax) ++tries_;
  const std::int64_t half = whole / 2;
  return std::chrono::milliseconds(half +
                                   static_cast<std::int64_t>(random % static_cast<std::uint64_t>(whole - half + 1)));
}

}  // namespace reseq::remote
