// Asking: somebody who asks an application questions while it is measured, as a dashboard of ten people would: in turn
// for a document, for the statistics of all partitions, and for a page of documents that wait.
// Thread rule: a thread of its own from the constructor to stop().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "admin/channel.h"
#include "tests/bench/contestant.h"

namespace reseq::bench {

class Asking {
 public:
  // REQUIRES: per_second > 0; the application outlives this. Throws when the topics are not there.
  Asking(const Application& application, double per_second);
  ~Asking();
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  // Waits for answers that are on their way. Throws when too little was answered.
  void stop();

 private:
  void run(double per_second);

  std::string requests_;
  std::unique_ptr<admin::Channel> channel_;
  std::atomic<bool> stopping_ = false;
  // Known when the thread has ended: since the first one that was answered.
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;  // questions with at least one reply
  std::thread thread_;
};

}  // namespace reseq::bench
