#include "kafka/broker_watch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <thread>

namespace reseq::kafka {
namespace {

bool becomes(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return condition();
}

class Watching : public testing::Test {
 protected:
  Result<> ask() {
    ++asked;
    if (answer) return Done{};
    return Error{ErrorClass::kRetriable, 0, "nobody is there"};
  }
  void write(std::string_view text) {
    const std::lock_guard lock(mutex);
    written += std::string(text) + ";";
  }
  std::string told() {
    const std::lock_guard lock(mutex);
    return written;
  }

  std::atomic<bool> answer = true;
  std::atomic<int> asked = 0;
  std::mutex mutex;
  std::string written;
  BrokerWatch watch{[this] { return ask(); }, [this](int, std::string_view, std::string_view text) { write(text); }};
};

TEST_F(Watching, WritesWhatClientsTellWhenTheBrokersAnswer) {
  watch.take(3, "FAIL", "one of three is gone");
  EXPECT_TRUE(becomes([&] { return told() == "one of three is gone;"; })) << told();
  EXPECT_FALSE(watch.away());
}

TEST_F(Watching, AsksNobodyWhileNoConnectionIsInTrouble) {
  watch.take(4, "GETPID", "the coordinator loads");
  watch.take(7, "FAIL", "asked for with debug");
  watch.take(3, "FATAL", "this client has ended");
  EXPECT_EQ(told(), "the coordinator loads;asked for with debug;this client has ended;");
  EXPECT_EQ(asked, 0);
}

TEST_F(Watching, FoldsWhatClientsTellUntilTheBrokersAreBack) {
  answer = false;
  const auto before =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  watch.take(3, "FAIL", "refused");
  EXPECT_TRUE(becomes([&] { return watch.away().has_value(); }));
  EXPECT_GE(watch.away()->since.value(), before.count());
  EXPECT_EQ(watch.away()->why, "nobody is there");
  watch.take(3, "FAIL", "refused again");
  watch.take(4, "SESSTMOUT", "the session is over");
  watch.take(3, "FATAL", "this client has ended");
  answer = true;
  EXPECT_TRUE(becomes([&] { return !watch.away().has_value(); }));
  watch.take(4, "REQTMOUT", "a request of before");
  EXPECT_EQ(told(), "this client has ended;");
}

TEST_F(Watching, HoldsNoMoreThanThereIsRoomFor) {
  // Longer than the doubt of the first line lasts, which is written within a second.
  for (std::size_t i = 0; i < BrokerWatch::kHeldMax + 1000; ++i) watch.take(3, "FAIL", "x");
  const auto lines = [&] {
    const std::string all = told();
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), ';'));
  };
  EXPECT_TRUE(becomes([&] { return told().find("more lines about connections") != std::string::npos; }));
  EXPECT_LE(lines(), 4 * BrokerWatch::kHeldMax + 4) << "as it came, and not held";
}

}  // namespace
}  // namespace reseq::kafka
