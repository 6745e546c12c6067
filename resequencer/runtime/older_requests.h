// OlderRequests: how many documents of a partition got only requests that are older than what is known of them. A few
// are late; many have a producer whose counter started again, and nothing of it gets through.
// A document counts for ten minutes from its last such request, until a request comes that is not older.
// Invariant: at most kDocumentsMax are held, each with the hash of its id and a time; more are not counted.
// Thread rule: one worker.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "base/id_hash.h"
#include "model/command.h"
#include "model/ids.h"

namespace reseq::runtime {

class OlderRequests {
 public:
  static constexpr std::size_t kDocumentsMax = 1'000;
  static constexpr Milliseconds kForgetAfter{600'000};

  void got_older(DocumentId id, Milliseconds now) {
    const std::size_t hash = IdHash()(id);
    if (last_.size() >= kDocumentsMax && !last_.contains(hash)) forget(now);
    if (last_.size() < kDocumentsMax || last_.contains(hash)) last_[hash] = now;
  }
  void got_newest(DocumentId id) { last_.erase(IdHash()(id)); }
  void forget(Milliseconds now) {
    std::erase_if(last_, [&](const auto& one) { return is_over(one.second, now); });
  }

  [[nodiscard]] bool empty() const { return last_.empty(); }
  [[nodiscard]] std::size_t documents(Milliseconds now) const {
    std::size_t count = 0;
    for (const auto& one : last_) count += is_over(one.second, now) ? 0 : 1;
    return count;
  }

 private:
  static bool is_over(Milliseconds last, Milliseconds now) {
    return now.value() - last.value() >= kForgetAfter.value();
  }

  std::unordered_map<std::size_t, Milliseconds> last_;  // by hash of the id
};

}  // namespace reseq::runtime
