// Watch: reads a topic from its beginning while the run goes on, and notes when each record could be read.
// Thread rule: the thread that starts it also ends it; reading is done by a thread of its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "demo/run/settings.h"
#include "demo/run/waits.h"
#include "kafka/group_consumer.h"

namespace reseq::demo {

class Watch {
 public:
  static Result<std::unique_ptr<Watch>> start(const Settings& settings, const std::string& topic);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { stop(); }

  // Ends it: all that it has seen. An error: it could not read on, and something may be missing.
  Result<std::vector<Seen>> end();

 private:
  explicit Watch(std::unique_ptr<kafka::GroupConsumer> reader) : reader_(std::move(reader)) {}
  void read();
  void stop();

  std::unique_ptr<kafka::GroupConsumer> reader_;
  std::atomic<bool> ending_ = false;
  std::vector<Seen> seen_;  // of the thread until it is joined, as the next
  Result<> read_ = Done{};
  std::thread thread_;
};

}  // namespace reseq::demo
