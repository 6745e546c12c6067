// What a group has committed, asked from outside, of a broker that keeps stopping in the middle.
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

#include "tests/component/rig.h"
#include "tests/support/broker.h"

namespace reseq::kafka {
namespace {

// librdkafka's own request for it aborts the process when its answer comes after its time limit
// (confluentinc/librdkafka issue 4605).
TEST(CommittedOffsets, CanBeAskedOfABrokerThatAnswersTooLate) {
  Rig rig(1, 4);
  const auto settled = [&] {
    return until_settled([&]() -> Result<> {
      const auto committed = rig.admin().committed(rig.name(), rig.topic(0), kLong);
      if (!committed) return committed.error();
      return Done{};
    });
  };
  good(settled());
  test::Broker& broker = test::Broker::shared();
  if (!broker.pause()) GTEST_SKIP() << "the broker is not ours";
  std::atomic<bool> done = false;
  std::thread stutter([&] {
    while (!done) {
      broker.resume();
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      broker.pause();
      std::this_thread::sleep_for(std::chrono::milliseconds(120));
    }
    broker.resume();
  });
  // Until as many were late, not a number of asks: a fast machine answers a hundred of them between two stops.
  constexpr int kLate = 20;
  int late = 0;
  for (const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kLong.value());
       late < kLate && std::chrono::steady_clock::now() < until;)
    late += rig.admin().committed(rig.name(), rig.topic(0), Milliseconds(60)) ? 0 : 1;
  done = true;
  stutter.join();
  EXPECT_EQ(late, kLate);
  EXPECT_TRUE(settled());
}

}  // namespace
}  // namespace reseq::kafka
