// Viewers: as many as an instance lets look at its page at once, without a browser.
// Thread rule: has threads of its own; the rest is for one thread.
#pragma once

#include <atomic>
#include <httplib.h>
#include <thread>
#include <utility>
#include <vector>

namespace reseq::test {

inline constexpr int kViewersMax = 8;

class Viewers {
 public:
  explicit Viewers(int port) {
    for (int i = 0; i < kViewersMax; ++i) threads_.emplace_back([this, port] { look(port); });
  }
  ~Viewers() {
    end_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Viewers(const Viewers&) = delete;
  Viewers& operator=(const Viewers&) = delete;

  [[nodiscard]] int heard() const { return heard_; }

 private:
  void look(int port) {
    httplib::Client client("127.0.0.1", port);
    client.set_read_timeout(20);
    bool first = true;
    client.Get("/page/pictures", [&](const char*, std::size_t) {
      if (std::exchange(first, false)) ++heard_;
      return !end_;
    });
  }

  std::atomic<bool> end_ = false;
  std::atomic<int> heard_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace reseq::test
