// EchoPipeline: a parallel pipeline that turns every work record into one result per target, late, out of order and
// sometimes twice; documents of kSilentPrefix get none. It reads and writes Kafka like a user's pipeline does.
// Thread rule: owns its thread; start and stop from one other thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "kafka/settings.h"

namespace reseq::test {

class EchoPipeline {
 public:
  EchoPipeline(kafka::Connection connection, std::string application_id, std::uint64_t seed);
  ~EchoPipeline();
  EchoPipeline(const EchoPipeline&) = delete;
  EchoPipeline& operator=(const EchoPipeline&) = delete;

  // Milliseconds since the last record came or left.
  [[nodiscard]] std::int64_t idle_ms() const;
  [[nodiscard]] std::uint64_t results() const { return results_; }
  // Empty, or why the pipeline ended.
  [[nodiscard]] std::string failure() const { return failed_ ? failure_ : ""; }

 private:
  void run();

  kafka::Connection connection_;
  std::string application_id_;
  std::uint64_t seed_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> failed_ = false;
  std::atomic<std::int64_t> active_at_ms_ = 0;
  std::atomic<std::uint64_t> results_ = 0;
  std::string failure_;
  std::thread thread_;
};

}  // namespace reseq::test
