#include "tests/bench/clocked_requests.h"

#include <vector>

#include "tests/bench/requests.h"

namespace reseq::bench {

ClockedRequests::ClockedRequests(const Application& application, std::uint64_t first, std::uint64_t end)
    : application_(application),
      first_(first),
      acknowledged_(end - first),
      producer_(application.site().bootstrap_servers, ""),
      watcher_(application.site(), application.topic("work"), end) {}

void ClockedRequests::send(std::size_t i, std::span<const Header> wishes) {
  std::vector<Header> headers = {{"reseq-seq", "1"}, {"reseq-epoch", "0"}, {"reseq-targets", kTargets}};
  headers.insert(headers.end(), wishes.begin(), wishes.end());
  producer_.send({.topic = application_.topic("requests"),
                  .key = id_of(first_ + i),
                  .payload = payload_of({first_ + i, 1}),
                  .headers = headers},
                 &acknowledged_[i]);
}

void ClockedRequests::warm_up(std::span<const Header> wishes) {
  send(0, wishes);
  flush();
  watcher_.await(first_);
}

double ClockedRequests::ms(std::size_t i) const {
  watcher_.await(first_ + i);
  return static_cast<double>(watcher_.seen(first_ + i) - acknowledged_[i]) / 1e6;
}

}  // namespace reseq::bench
