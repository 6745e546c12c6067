// JournalWatch: how many documents wait for their dispatch, and how many are under way, asked as an operator does.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tests/chaos/nemesis/operator.h"

namespace reseq::chaos {

struct InJournal {
  std::uint64_t waiting = 0;
  std::uint64_t processing = 0;  // under way
};

class JournalWatch {
 public:
  // REQUIRES: it outlives the watch.
  explicit JournalWatch(Operator& on_call) : on_call_(on_call) {}

  // Asks, unless it has. The operator has to be stepped meanwhile.
  void ask();
  // The answer of all partitions, once; none: there is none yet, or not of all.
  [[nodiscard]] std::optional<InJournal> take();

 private:
  struct Answer {
    bool asked = false;
    std::optional<InJournal> found = {};
  };
  Operator& on_call_;
  std::shared_ptr<Answer> answer_ = std::make_shared<Answer>();  // may come when the watch is gone
};

}  // namespace reseq::chaos
