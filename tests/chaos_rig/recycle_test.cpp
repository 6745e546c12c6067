// The late commit of commit_test.cpp, met by the program itself: with its precaution it is void, without it half of a
// batch becomes visible and is done again after a crash.
#include <csignal>
#include <gtest/gtest.h>
#include <span>

#include "tests/chaos_rig/scene.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/support/broker.h"

namespace reseq::chaos {
namespace {

constexpr const char* kOnePartition =
    "init.partitions = 1\ninit.work_partitions = 1\ntransaction.timeout.ms = 60000\nsession.timeout.ms = 6000\n";

class LateCommit : public testing::Test {
 protected:
  LateCommit() { run.run_program("resequencer-faulty"); }
  ~LateCommit() override { proxy.clear(); }

  // Kills the process when its commit of one batch has arrived in the middle of the next, starts it again, and waits
  // until it has done everything or refuses to.
  void meet(const std::vector<std::string>& environment) {
    auto process = run.start(1, environment);
    request("0");
    ASSERT_TRUE(idle()) << process->tail();
    late = proxy.add(hold_commit(run.application_id() + ".1.*", {.api = Api::kProduce, .count = 1}));
    // What comes behind the late commit does not reach the broker any more, so that nothing mends the batch.
    proxy.add({.match = {.transactional_id = run.application_id() + ".1.*", .apis = {Api::kAddOffsetsToTxn}},
               .way = Way::kRequests,
               .action = Hold{},
               .after = late});
    request("1");
    ASSERT_TRUE(test::wait_until(kPatience, [&] { return proxy.counts(late).acted == 1; })) << process->tail();
    request("2");
    ASSERT_TRUE(test::wait_until(kPatience, [&] { return proxy.counts(late).answered == 1; })) << process->tail();
    process->signal(SIGKILL);
    (void)process->wait(10'000);
    proxy.clear();
    process = run.start(1, environment);
    EXPECT_TRUE(test::wait_until(kPatience, [&] {
      parked = process->tail().find("parked") != std::string::npos;
      return run.drained() || parked;
    })) << process->tail();
  }

  void request(const std::string& id) {
    const Header sequence{"reseq-seq", "1"};
    good(producer->send(run.topic("requests"), id, "payload", std::span(&sequence, 1)));
    good(producer->flush(kLong));
  }

  bool idle() {
    return test::wait_until(kPatience, [&] { return run.drained(); });
  }

  // How often a document was forwarded.
  int forwards(const std::string& id) {
    int count = 0;
    test::read_all(run.connection(), run.topic("work"), [&](const kafka::PlainRecord& record) {
      if (record.key == id) ++count;
    });
    return count;
  }

  Proxy& proxy = one_broker().proxy();
  test::ResequencerRun run{one_broker().bootstrap_servers(), test::unique_name("late"), {"search"}, kOnePartition};
  std::unique_ptr<kafka::PlainProducer> producer = good(kafka::PlainProducer::open(run.connection()));
  RuleId late = 0;
  bool parked = false;  // in the end
};

TEST_F(LateCommit, IsVoidBecauseTheProducerIsRecycled) {
  meet({});
  EXPECT_GT(proxy.counts(late).last_error, kDone);
  EXPECT_FALSE(parked);
  for (const std::string id : {"0", "1", "2"}) EXPECT_EQ(forwards(id), 1) << id;
}

TEST_F(LateCommit, CommitsHalfABatchOfAProcessThatDoesNotRecycle) {
  meet({"RESEQ_GUARD_OFF=recycle_on_doubt"});
  EXPECT_EQ(proxy.counts(late).last_error, kDone);
  EXPECT_EQ(forwards("1"), 1);
  // Which of its records are in that half is a matter of chance. It is forwarded twice, or never; or the state is ahead
  // of the offsets, and the partition is parked.
  EXPECT_TRUE(parked || forwards("2") != 1) << forwards("2");
}

}  // namespace
}  // namespace reseq::chaos
