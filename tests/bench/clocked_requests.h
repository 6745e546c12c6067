// Requests that are sent one by one, and of which it is known when their broker acknowledged them and when a
// read_committed reader had them on `work`.
// Thread rule: one thread; everything throws when the broker does not answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/header.h"
#include "tests/bench/clocked_producer.h"
#include "tests/bench/contestant.h"
#include "tests/bench/watcher.h"

namespace reseq::bench {

class ClockedRequests {
 public:
  // Of documents [first, end), each at most once. The application outlives it.
  ClockedRequests(const Application& application, std::uint64_t first, std::uint64_t end);

  [[nodiscard]] std::size_t size() const { return acknowledged_.size(); }
  // Document first + i, with these headers besides those that every request has.
  void send(std::size_t i, std::span<const Header> wishes);
  // Returns when all that was sent is acknowledged.
  void flush() { producer_.flush(); }
  // The first of all is not measured: clients are new.
  void warm_up(std::span<const Header> wishes);
  // From the one to the other. Waits until it was seen. REQUIRES: it was sent and acknowledged.
  [[nodiscard]] double ms(std::size_t i) const;

  [[nodiscard]] const Watcher& work() const { return watcher_; }

 private:
  const Application& application_;
  std::uint64_t first_;
  Moments acknowledged_;
  ClockedProducer producer_;  // ends before the moments
  Watcher watcher_;
};

}  // namespace reseq::bench
