// Headers that are cheap in the log and dear in memory: a null header takes two bytes there, less when it is
// compressed, and over a hundred in a process. Memory must stay far below what they would hold as objects, 4.7 GB for
// the flood here, and who stands behind them is served.
#include <chrono>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "kafka/plain_producer.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr std::size_t kMiB = 1024 * 1024;
#ifdef RESEQ_SANITIZED
constexpr std::size_t kResidentMax = 2'000 * kMiB;
constexpr std::size_t kResidentMaxOfBatches = 1'000 * kMiB;
#else
constexpr std::size_t kResidentMax = 250 * kMiB;  // docs/security.md has the sum
constexpr std::size_t kResidentMaxOfBatches = 100 * kMiB;
#endif

// The most that the process has held so far.
std::size_t most_resident(const Process& process) {
  std::ifstream status("/proc/" + std::to_string(process.pid()) + "/status");
  for (std::string name; status >> name;)
    if (std::size_t kilobytes = 0; name == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  ADD_FAILURE() << "no VmHWM";
  return 0;
}

class ManyHeaders : public testing::Test {
 protected:
  ManyHeaders()
      : run_(Broker::shared().bootstrap_servers(), unique_name("headers"), {"search"},
             "init.partitions = 1\ninit.work_partitions = 1\nbatch_bytes_max = 16777216\n") {
    kafka::Connection connection = run_.connection();
    connection.librdkafka.emplace_back("compression.codec", "zstd");
    producer_ = good(kafka::PlainProducer::open(connection));
  }

  // Requests of documents of their own, each with that many null headers beside reseq-seq.
  void send(const std::string& stem, std::size_t count, std::size_t null_headers) {
    std::vector<Header> headers(null_headers, Header{"h", std::nullopt});
    headers.push_back({"reseq-seq", "1"});
    for (std::size_t i = 0; i < count; ++i) {
      good(producer_->send(run_.topic("requests"), stem + std::to_string(i), "payload", headers));
      if (i % 10 == 9) good(producer_->flush(Milliseconds(60'000)));
    }
    good(producer_->flush(Milliseconds(60'000)));
  }
  [[nodiscard]] bool decides_all(Process& process) {
    return wait_until(2 * kPatience, [&] { return !process.running() || run_.drained(); }) && process.running();
  }
  std::map<std::string, int> letters() {
    std::map<std::string, int> found;
    read_all(run_.connection(), run_.topic("dead-letter"), [&](const kafka::PlainRecord& record) {
      std::string what;
      for (const Header& header : record.headers)
        if (header.name == "reseq-reason" || header.name == "reseq-headers-omitted")
          what += std::string(header.value.value_or("")) + " ";
      ++found[what];
    });
    return found;
  }
  std::size_t work() {
    std::size_t found = 0;
    read_all(run_.connection(), run_.topic("work"), [&](const kafka::PlainRecord&) { ++found; });
    return found;
  }
  // In batches of ten records.
  void survive_a_flood(const std::vector<std::string>& environment, std::size_t resident_max) {
    send("flood", 400, 99'990);
    send("behind", 1, 0);
    auto process = run_.start(1, environment);
    ASSERT_TRUE(decides_all(*process)) << process->tail();
    EXPECT_LT(most_resident(*process), resident_max);
    std::cout << "most resident: " << most_resident(*process) / kMiB << " MiB" << std::endl;
    EXPECT_THAT(letters(), ElementsAre(Pair("too_many_headers 99991 ", 400)));
    EXPECT_EQ(work(), 1U);
  }

  ResequencerRun run_;
  std::unique_ptr<kafka::PlainProducer> producer_;
};

TEST_F(ManyHeaders, OverTheLimitAreADeadLetterAndNeverAllInMemory) {
  survive_a_flood({}, kResidentMax);
}

// What an answer of a broker unpacks to is not known before, so it is held whole; unless it has one batch.
TEST_F(ManyHeaders, AreHeldABatchAtATimeWhereThatIsConfigured) {
  survive_a_flood({"RESEQ_KAFKA_FETCH_MESSAGE_MAX_BYTES=1", "RESEQ_KAFKA_QUEUED_MIN_MESSAGES=100"},
                  kResidentMaxOfBatches);
}

// librdkafka itself reads no more, and does not say how many there are.
TEST_F(ManyHeaders, MoreThanLibrdkafkaReadsAreADeadLetter) {
  send("beyond", 3, 100'001);
  send("behind", 1, 0);
  auto process = run_.start(1);
  ASSERT_TRUE(decides_all(*process)) << process->tail();
  EXPECT_THAT(letters(), ElementsAre(Pair("too_many_headers 100001 ", 3)));
  EXPECT_EQ(work(), 1U);
}

TEST_F(ManyHeaders, UpToTheLimitAreCountedAsWhatTheyHold) {
  constexpr std::size_t kSent = 4'000;
  send("many", kSent, 990);
  auto process = run_.start(1);
  ASSERT_TRUE(decides_all(*process)) << process->tail();
  EXPECT_LT(most_resident(*process), kResidentMax);
  std::cout << "most resident: " << most_resident(*process) / kMiB << " MiB" << std::endl;
  EXPECT_THAT(letters(), testing::IsEmpty());
  EXPECT_EQ(work(), kSent);
}

}  // namespace
}  // namespace reseq::test
