// EchoPipeline: a parallel pipeline that turns every work record into one result per target, late, out of order and
// sometimes twice; documents of kSilentPrefix get none. For a target that is down it says so instead, and for that
// target documents of kBadPrefix fail of themselves, also while it is down. It reads and writes Kafka like a
// user's pipeline does.
// Thread rule: owns its thread; start and stop from one other thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "kafka/settings.h"

namespace reseq::test {

// Nothing can be made of ids that begin with this for the target that set_down() names.
inline constexpr std::string_view kBadPrefix = "bad/";

class EchoPipeline {
 public:
  EchoPipeline(kafka::Connection connection, std::string application_id, std::uint64_t seed);
  ~EchoPipeline();
  EchoPipeline(const EchoPipeline&) = delete;
  EchoPipeline& operator=(const EchoPipeline&) = delete;

  // From now on this target can be reached, or not. REQUIRES: always the same one.
  void set_down(const std::string& target, bool down);
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
  std::atomic<const std::string*> target_ = nullptr;  // of set_down(); it lives as long as the pipeline
  std::atomic<bool> down_ = false;
  std::string target_name_;
  std::string failure_;
  std::thread thread_;
};

}  // namespace reseq::test
