#include "demo/run/waits.h"

#include <algorithm>
#include <unordered_map>

namespace reseq::demo {
namespace {

using Firsts = std::unordered_map<std::uint64_t, std::int64_t>;

template <typename Records>
Firsts firsts_of(const Records& records) {
  Firsts firsts;
  for (const auto& record : records) {
    const auto [first, is_new] = firsts.try_emplace(record.request, record.micros);
    if (!is_new) first->second = std::min(first->second, record.micros);
  }
  return firsts;
}

// The smallest value that at least this part of all is not above. REQUIRES: sorted, and not empty.
double quantile_ms(const std::vector<std::int64_t>& micros, double part) {
  const auto place = static_cast<std::size_t>(part * static_cast<double>(micros.size()) + 0.999999);
  return static_cast<double>(micros[std::clamp<std::size_t>(place, 1, micros.size()) - 1]) / 1'000;
}

Wait wait_until(const Firsts& reached, const std::vector<const Seen*>& requests) {
  std::vector<std::int64_t> micros;
  for (const Seen* request : requests)
    // Two readers: the later one may have been the faster.
    if (const auto at = reached.find(request->request); at != reached.end())
      micros.push_back(std::max<std::int64_t>(0, at->second - request->micros));
  if (micros.empty()) return {};
  std::sort(micros.begin(), micros.end());
  return {.requests = micros.size(), .p50_ms = quantile_ms(micros, 0.5), .p99_ms = quantile_ms(micros, 0.99)};
}

}  // namespace

Waits waits_of(Sequences which, const std::vector<Seen>& requests, const std::vector<Seen>& work,
               const std::vector<WorkBegun>& begun) {
  std::vector<const Seen*> asked;
  for (const Seen& request : requests)
    if (request.sequence > which.after && request.sequence <= which.up_to) asked.push_back(&request);
  return {.requests = asked.size(),
          .readable = wait_until(firsts_of(work), asked),
          .begun = wait_until(firsts_of(begun), asked)};
}

WorkCounts counts_of(const std::vector<WorkBegun>& begun) {
  return {.begun = begun.size(), .again = begun.size() - firsts_of(begun).size()};
}

}  // namespace reseq::demo
