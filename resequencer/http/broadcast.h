// Broadcast: hands the newest of something to whoever listens. Who is slow misses what was in between; who sends never
// waits for anybody.
// Thread rule: any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "http/server.h"

namespace reseq::http {

class Broadcast {
 public:
  Broadcast() : state_(std::make_shared<State>()) {}

  // Replaces what was sent before.
  void send(std::string event);
  // Waits for up to `limit` while nobody listens; whether somebody does.
  [[nodiscard]] bool wait_for_listener(std::chrono::milliseconds limit);
  [[nodiscard]] std::size_t listeners() const;
  // Hears first what was sent last, unless nobody has listened since: that is old.
  [[nodiscard]] std::unique_ptr<Listener> listen();

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable sent;
    std::condition_variable came;
    std::shared_ptr<const std::string> newest;
    std::uint64_t number = 0;  // of the newest
    std::size_t listeners = 0;
  };
  class Ear;
  std::shared_ptr<State> state_;
};

}  // namespace reseq::http
