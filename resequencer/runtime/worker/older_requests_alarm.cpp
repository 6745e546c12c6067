#include "runtime/worker/older_requests_alarm.h"

#include <algorithm>

namespace reseq::runtime {

std::optional<OlderRequestsAlarm::Told> OlderRequestsAlarm::look(Milliseconds now, std::size_t documents,
                                                                 std::uint64_t older, std::uint64_t requests) {
  samples_.push_back({now, older, requests});
  keep_window(samples_, now, kWindow);
  const Sample& first = samples_.front();

  Told told;
  told.documents = documents;
  // The first one of all is no rate.
  const std::int64_t window_ms = std::max(kStep.value(), now.value() - first.at.value());
  told.per_s = static_cast<double>(older - first.older) * 1000 / static_cast<double>(window_ms);
  if (requests > first.requests)
    told.share = static_cast<double>(older - first.older) / static_cast<double>(requests - first.requests);

  const auto reaches = [&](double part) {
    return static_cast<double>(documents) >= part * static_cast<double>(kRaiseAtLeast) &&
           told.share >= part * kRaiseShare;
  };
  const auto state = run_.look(now, reaches(1), !reaches(kClearAt));
  if (!state) return std::nullopt;
  told.state = *state;
  return told;
}

}  // namespace reseq::runtime
