// UnfinishedWatch: how many documents wait for their dispatch or are under way, and how many places lanes have, asked
// as an operator does.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tests/chaos/nemesis/operator.h"

namespace reseq::chaos {

struct Unfinished {
  std::uint64_t waiting = 0;
  std::uint64_t processing = 0;  // under way
  std::uint64_t places = 0;      // in lanes of ordered targets

  [[nodiscard]] std::uint64_t all() const { return waiting + processing + places; }
};

class UnfinishedWatch {
 public:
  // REQUIRES: it outlives the watch.
  explicit UnfinishedWatch(Operator& on_call) : on_call_(on_call) {}

  // Asks, unless it has. The operator has to be stepped meanwhile.
  void ask();
  // The answer of all partitions, once; none: there is none yet, or not of all.
  [[nodiscard]] std::optional<Unfinished> take();

 private:
  struct Answer {
    bool asked = false;
    std::optional<Unfinished> found = {};
  };
  Operator& on_call_;
  std::shared_ptr<Answer> answer_ = std::make_shared<Answer>();  // may come when the watch is gone
};

}  // namespace reseq::chaos
