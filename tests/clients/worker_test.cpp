// The worker with threads that the guide to the wire shows: what it answers, what it commits, and what it does when its
// partitions are gone.
#include <algorithm>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "tests/clients/application.h"
#include "tests/e2e/patience.h"
#include "tests/support/broker.h"
#include "tests/support/pause.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kWorkerStopMs = 40'000;
constexpr std::chrono::milliseconds kCommits{2'500};  // it commits once a second
constexpr const char* kPython3 = "/usr/bin/python3";

class WorkerWithThreads : public testing::Test {
 protected:
  WorkerWithThreads() {
    const Transcript made = run_program({kPython3, "-c",
                                         "import sys\n"
                                         "from confluent_kafka.admin import AdminClient, NewTopic\n"
                                         "admin = AdminClient({'bootstrap.servers': sys.argv[1]})\n"
                                         "admin.create_topics([NewTopic(sys.argv[2], 1, 1)])[sys.argv[2]].result()",
                                         brokers_, letters_});
    EXPECT_EQ(made.exit_code, 0) << made.text();
  }

  std::unique_ptr<Process> start(const std::string& log) {
    return std::make_unique<Process>(
        std::vector<std::string>{kPython3, source_path("docs/examples/clients/worker.py"), brokers_,
                                 application_.name(), letters_, "session.timeout.ms=6000"},
        folder_.path() + "/" + log);
  }

  // kcat's lines KEY|PAYLOAD are requests with this sequence.
  void request(const std::string& lines, int sequence) {
    const Transcript sent = application_.run_script(
        "printf '%s' '" + lines +
        "' | kcat -P -b localhost:9092 -t shop.requests -X partitioner=murmur2_random -K '|' -Z -H reseq-seq=" +
        std::to_string(sequence));
    EXPECT_EQ(sent.exit_code, 0) << sent.text();
  }
  static std::string many(const std::string& id, int count, const std::string& payload) {
    std::string lines;
    for (int i = 1; i <= count; ++i) lines += id + "-" + std::to_string(i) + "|" + payload + "\n";
    return lines;
  }

  // What was written to a topic, in this format of kcat; sorted.
  std::vector<std::string> read(const std::string& topic, const std::string& format) {
    std::vector<std::string> lines =
        application_.run_script("kcat -C -b localhost:9092 -t shop." + topic + " -e -q -f '" + format + "\\n'").lines;
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  void expect_results(std::size_t count) {
    for (const char* target : {"search", "catalogue"})
      EXPECT_TRUE(wait_until(kPatience, [&] { return read("output." + std::string(target), "%k").size() >= count; }))
          << target << " has " << read("output." + std::string(target), "%k").size();
  }
  static bool logs(const Process& worker, const std::string& what) {
    return wait_until(kPatience, [&] { return worker.tail().find(what) != std::string::npos; });
  }
  // The offset of the one partition of work that the group goes on at; negative: none.
  std::int64_t committed() {
    const Transcript told =
        run_program({kPython3, "-c",
                     "import sys\n"
                     "from confluent_kafka import Consumer, TopicPartition\n"
                     "group = Consumer({'bootstrap.servers': sys.argv[1], 'group.id': sys.argv[2] + '.workers'})\n"
                     "print(group.committed([TopicPartition(sys.argv[2] + '.work', 0)], 30)[0].offset)",
                     brokers_, application_.name()});
    EXPECT_EQ(told.exit_code, 0) << told.text();
    return told.exit_code == 0 ? std::stoll(told.lines.back()) : -1;
  }
  std::int64_t offset_of(const std::string& id) {
    for (const std::string& line : read("work", "%k %o"))
      if (line.starts_with(id + " ")) return std::stoll(line.substr(id.size() + 1));
    return -1;
  }

  TempDir folder_;
  std::string brokers_ = Broker::shared().bootstrap_servers();
  Application application_;
  std::string letters_ = application_.name() + ".letters";
};

TEST_F(WorkerWithThreads, TellsOfAPayloadThatItCannotUseAndAnswersAllOthers) {
  const auto worker = start("log");
  request(many("good", 20, R"({"price":1})") + "bad|{\"price\":\n", 1);
  expect_results(20);
  request("good-1|\n", 2);  // deletes it
  expect_results(21);
  EXPECT_TRUE(wait_until(kPatience, [&] { return !read("letters", "%k").empty(); })) << worker->tail();
  EXPECT_THAT(
      read("letters", "%k %h"),
      testing::ElementsAre(AllOf(HasSubstr("bad "), HasSubstr("reseq-seq=1"), HasSubstr("error=JSONDecodeError"),
                                 HasSubstr("place=" + application_.name() + ".work[0]@"))));
  for (const char* target : {"search", "catalogue"}) {
    const auto results = read("output." + std::string(target), "%k %S %s");
    EXPECT_THAT(results, Not(Contains(HasSubstr("bad"))));
    EXPECT_THAT(results, Contains("good-2 " + std::to_string(std::string(target).size() + 23) +
                                  R"( {"price": 1, "for": ")" + target + "\"}"));
    EXPECT_THAT(results, Contains("good-1 -1 "));
  }
  EXPECT_THAT(application_.run_command({"why", "bad"}).text(), HasSubstr("search waits since"));
  // What it told of is finished as well.
  const std::int64_t last = offset_of("good-1");
  EXPECT_TRUE(wait_until(kPatience, [&] { return committed() > std::max(last, offset_of("bad")); })) << worker->tail();
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->wait(kWorkerStopMs), 0) << worker->tail();
}

TEST_F(WorkerWithThreads, CommitsNothingBehindARecordThatIsNotFinished) {
  const auto worker = start("log");
  request(many("early", 5, "{}"), 1);
  expect_results(5);
  request("slow|{\"takes_s\":600}\n", 1);
  request(many("fast", 20, "{}"), 1);
  expect_results(25);
  std::this_thread::sleep_for(kCommits);
  EXPECT_GT(committed(), 0);
  EXPECT_LE(committed(), offset_of("slow"));
}

TEST_F(WorkerWithThreads, GoesOnWhenItsPartitionsWereLostInAPause) {
  const auto paused = start("paused");
  request(many("before", 600, R"({"takes_s":0.1})"), 1);
  expect_results(1);
  ASSERT_TRUE(pause_process(paused->pid()));
  const auto other = start("other");
  EXPECT_TRUE(logs(*other, "assigned: 1 partitions")) << other->tail();
  paused->signal(SIGCONT);
  EXPECT_TRUE(logs(*paused, "lost: 1 partitions")) << paused->tail();
  expect_results(600);
  other->signal(SIGTERM);
  EXPECT_EQ(other->wait(kWorkerStopMs), 0) << other->tail();
  request(many("after", 10, "{}"), 1);
  expect_results(610);
  EXPECT_THAT(read("letters", "%k"), IsEmpty());
  paused->signal(SIGTERM);
  EXPECT_EQ(paused->wait(kWorkerStopMs), 0) << paused->tail();
}

}  // namespace
}  // namespace reseq::test
