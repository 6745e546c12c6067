// ProgressWatch: for how long inputs of a partition have waited without being read on.
// Thread rule: has a thread that asks the brokers; the rest may be called by any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "kafka/admin.h"
#include "kafka/settings.h"

namespace reseq::chaos {

struct Stall {
  int partition = 0;
  std::chrono::seconds lasts{0};
};

class ProgressWatch {
 public:
  ProgressWatch(kafka::Connection connection, std::string application_id, int partitions);
  ~ProgressWatch();
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;

  // The longest of all partitions. While brokers do not answer nothing stalls: nobody can tell.
  [[nodiscard]] Stall now() const;
  // Everything before counts no more.
  void forgive();

 private:
  using Clock = std::chrono::steady_clock;
  struct Place {
    std::atomic<std::int64_t> since_s = 0;  // it has waited without progress
    std::int64_t position = -1;             // both inputs together
  };
  void run();
  bool ask(kafka::Admin& admin);
  [[nodiscard]] static std::int64_t seconds_now();

  kafka::Connection connection_;
  std::string application_id_;
  std::vector<Place> places_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace reseq::chaos
