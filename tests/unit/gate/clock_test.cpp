// The wall clock was an hour ahead and is set back. Ends that were asked by it say nothing of what comes due now: a
// window must not open ahead of a request that stood in the log before it ended.
#include <gtest/gtest.h>
#include <string>

#include "gated.h"

namespace reseq::runtime::clocks {
namespace {

class ClockSetBack : public Gated<1>, public ::testing::WithParamInterface<std::int64_t> {
 protected:
  ClockSetBack() : Gated(gate_of()) {}
  static const engine::Gate& gate_of() {
    static const gate::WindowGate gate({.window = Milliseconds(1'000), .every = 1, .drained_max = 2, .partitions = 1});
    return gate;
  }
};

TEST_P(ClockSetBack, OpensNoWindowAheadOfARequestThatStoodInTheLogBeforeItsEnd) {
  clock.step(Milliseconds(3'600'000));
  start();
  request("document-a", 1, "first");
  decide(1);
  for (int i = 0; i < 10'000 && committed("work").empty(); ++i) step();
  ASSERT_EQ(committed("work").size(), 1U);
  clock.step(Milliseconds(-GetParam()));
  for (int i = 0; i < 200; ++i) step();
  request("document-b", 1, "second");
  for (int i = 0; i < 10'000 && held_now() == 0; ++i) step();
  ASSERT_EQ(held_now(), 1U);
  const auto inputs = worker->totals().inputs;
  // The inputs come late from here on; the request below is in the log before the window of the second is over.
  for (int i = 0; i < 100'000; ++i) broker.faults().order(simulation::Call::kPoll, simulation::Fault::kRetriable);
  request("document-c", 1, "third");
  for (int i = 0; i < 2'000; ++i) step();
  ASSERT_EQ(worker->totals().inputs, inputs) << "the third was read";
  EXPECT_EQ(committed("work").size(), 1U) << "a window was opened ahead of an input";
}

INSTANTIATE_TEST_SUITE_P(By, ClockSetBack, ::testing::Values(0, 3'600'000));

}  // namespace
}  // namespace reseq::runtime::clocks
