// LagWatch: whether the application or its pipeline is too far behind those who write.
// Thread rule: has a thread that asks the brokers; behind() may be called by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "kafka/settings.h"

namespace reseq::chaos {

// The group that the processes of the pipeline are members of.
[[nodiscard]] std::string pipeline_group(const std::string& application_id);

class LagWatch {
 public:
  // `records_max`: how far each may be behind, the application on requests, the pipeline on work.
  LagWatch(kafka::Connection connection, std::string application_id, std::uint64_t records_max);
  ~LagWatch();
  LagWatch(const LagWatch&) = delete;
  LagWatch& operator=(const LagWatch&) = delete;

  // True at first, and when brokers have not answered for kBlindMax: who cannot see must not run ahead.
  [[nodiscard]] bool behind() const { return behind_; }

 private:
  void run();

  kafka::Connection connection_;
  std::string application_id_;
  std::int64_t records_max_;
  std::atomic<bool> behind_ = true;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace reseq::chaos
