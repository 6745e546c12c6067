// OlderRequests: how many documents of a partition got only requests that are older than what is known of them. A few
// are late; many have a producer whose counter started again, and nothing of it gets through.
// A document counts from two minutes after the first such request until ten minutes after the last one, or until one
// comes that is not older: where old changes are sent again, their newest ones follow before that.
// Invariant: at most kDocumentsMax are held, each with the hash of its id and two times; more are not counted.
// Thread rule: one worker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "base/id_hash.h"
#include "model/command.h"
#include "model/ids.h"

namespace reseq::runtime {

class OlderRequests {
 public:
  static constexpr std::size_t kDocumentsMax = 1'000;
  static constexpr Milliseconds kCountAfter{120'000};
  static constexpr Milliseconds kForgetAfter{600'000};

  void got_older(DocumentId id, Milliseconds now) {
    const std::size_t hash = IdHash()(id);
    const auto known = noted_.find(hash);
    if (known != noted_.end() && !known->second.is_over(now)) {
      known->second.last = now;
      return;
    }
    if (noted_.size() >= kDocumentsMax) forget(now);
    if (noted_.size() < kDocumentsMax) noted_.insert_or_assign(hash, Times{now, now});
  }
  void got_newest(DocumentId id) { noted_.erase(IdHash()(id)); }
  void forget(Milliseconds now) {
    std::erase_if(noted_, [&](const auto& one) { return one.second.is_over(now); });
  }

  [[nodiscard]] bool empty() const { return noted_.empty(); }
  // Those that count.
  [[nodiscard]] std::size_t documents(Milliseconds now) const {
    return static_cast<std::size_t>(
        std::count_if(noted_.begin(), noted_.end(), [&](const auto& one) { return one.second.counts(now); }));
  }

 private:
  // Of older requests.
  struct Times {
    Milliseconds first;
    Milliseconds last;

    [[nodiscard]] bool is_over(Milliseconds now) const { return now.value() - last.value() >= kForgetAfter.value(); }
    [[nodiscard]] bool counts(Milliseconds now) const {
      return !is_over(now) && now.value() - first.value() >= kCountAfter.value();
    }
  };

  std::unordered_map<std::size_t, Times> noted_;  // by hash of the id
};

}  // namespace reseq::runtime
