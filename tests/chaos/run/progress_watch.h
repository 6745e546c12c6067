// ProgressWatch: asks the brokers again and again how far each partition is read.
// Thread rule: has a thread that asks the brokers; the rest may be called by any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kafka/admin.h"
#include "kafka/settings.h"
#include "tests/chaos/run/stalls.h"

namespace reseq::chaos {

class ProgressWatch {
 public:
  ProgressWatch(kafka::Connection connection, std::string application_id, int partitions);
  ~ProgressWatch();
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;

  // The longest of all partitions.
  [[nodiscard]] Stall now() const { return stalls_.longest(steady()); }
  // Everything before counts no more.
  void begin_anew() { stalls_.begin_anew(steady()); }

 private:
  using Clock = std::chrono::steady_clock;
  void run();
  [[nodiscard]] std::optional<std::vector<Standing>> ask(kafka::Admin& admin) const;
  [[nodiscard]] static Stalls::Time steady();

  kafka::Connection connection_;
  std::string application_id_;
  std::size_t partitions_;
  Stalls stalls_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace reseq::chaos
