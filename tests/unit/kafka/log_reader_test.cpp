// What a reader says of its connections while nothing is read.
#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kafka/librdkafka_log_reader.h"

namespace reseq::kafka {
namespace {

class Lines {
 public:
  void add(int level, std::string_view facility) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::to_string(level) + " " + std::string(facility));
  }
  [[nodiscard]] std::ptrdiff_t count(const std::string& line) {
    const std::lock_guard lock(mutex_);
    return std::count(lines_.begin(), lines_.end(), line);
  }

 private:
  std::mutex mutex_;  // librdkafka's threads log too
  std::vector<std::string> lines_;
};

TEST(LogReader, TellsWhatBecameOfItsConnectionsWhenItIsServed) {
  constexpr int kClients = 2;
  const std::string told = "4 ERROR";  // a warning
  Lines lines;
  const auto reader =
      LibrdkafkaLogReader::open({.connection = {.bootstrap_servers = "127.0.0.1:1",  // nobody listens there
                                                .log = [&](int level, std::string_view facility,
                                                           std::string_view) { lines.add(level, facility); }},
                                 .topics = {"changelog"},
                                 .group_id = "orders",
                                 .transactional_id = "orders.1"},
                                ReaderUse::kInOrder)
          .value();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(lines.count(told), 0) << "without a call nothing is told";
  for (int i = 0; i < 100 && lines.count(told) < 2 * kClients; ++i) {
    reader->serve();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_GE(lines.count(told), 2 * kClients) << "that it cannot connect, and that no broker is left";
  EXPECT_EQ(lines.count("3 ERROR"), 0) << "what librdkafka mends by itself is no error";
}

}  // namespace
}  // namespace reseq::kafka
