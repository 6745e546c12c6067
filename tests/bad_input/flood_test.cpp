// A flood of bad records: the good ones among them are all released, each bad one is kept once, nothing stops, and the
// log says so while it lasts.
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <sstream>

#include "tests/bad_input/subject.h"
#include "tests/e2e/fleet.h"
#include "tests/e2e/patience.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;

constexpr int kGood = 2'000;
constexpr int kBadForEachGood = 10;

Record bad_record(int number, bool is_request, int partition) {
  const std::string id = id_in(partition, "bad/" + std::to_string(number) + "/", Subject::kPartitions);
  Record record{id, std::string(100, 'b'), {{"reseq-seq", "not a number"}}};
  if (!is_request) record.headers.push_back({"reseq-command", "sequence"});
  if (number % 10 == 0) record.key = std::nullopt;                         // missing_id
  if (number % 10 == 1) record.headers.push_back({"reseq-command", "?"});  // unknown_command
  return record;
}

// Lines of the alarm, in order.
std::vector<std::string> alarms(const Subject& subject) {
  std::vector<std::string> found;
  std::istringstream lines(subject.log());
  for (std::string line; std::getline(lines, line);)
    if (field(line, "alarm") == "bad_records") found.push_back(line);
  return found;
}

TEST(Flood, OfBadRecordsRaisesAnAlarmAndStopsNothing) {
  Subject subject("flood", "[[target]]\nname = \"search\"\n");
  std::map<std::string, int> good;
  for (int i = 0; i < kGood; ++i) {
    const int partition = i % Subject::kPartitions;
    const std::string id = id_in(partition, "good/" + std::to_string(i) + "/", Subject::kPartitions);
    good[id] = 1;
    subject.send("requests", {id, "payload", {{"reseq-seq", "1"}}}, partition);
    for (int k = 0; k < kBadForEachGood; ++k) {
      const bool is_request = k % 3 != 2;
      const Record bad = bad_record(i * kBadForEachGood + k, is_request, partition);
      subject.send(is_request ? "requests" : "commands", bad, partition);
    }
  }
  subject.settle();
  subject.answer_work();
  subject.settle();

  std::map<std::string, int> released;
  for (const ReadRecord& output : subject.read("output.search")) ++released[output.record.key.value_or("")];
  EXPECT_EQ(released, good);
  std::map<std::string, int> letters;
  for (const ReadRecord& letter : subject.read("dead-letter"))
    ++letters[letter.record.header("reseq-source-topic").value_or("") + "/" +
              letter.record.header("reseq-source-partition").value_or("") + "@" +
              letter.record.header("reseq-source-offset").value_or("")];
  EXPECT_EQ(letters.size(), static_cast<std::size_t>(kGood * kBadForEachGood)) << "each kept once";

  ASSERT_TRUE(wait_until(std::chrono::seconds(60), [&] { return alarms(subject).size() >= 2; })) << subject.log();
  const std::vector<std::string> lines = alarms(subject);
  EXPECT_EQ(field(lines.front(), "state"), "raised") << lines.front();
  EXPECT_THAT(lines.front(), HasSubstr("level=warning"));
  EXPECT_EQ(field(lines.front(), "reason"), "malformed_sequence");
  EXPECT_GT(std::stod(field(lines.front(), "per_s").value_or("0")), 0) << lines.front();
  EXPECT_GT(std::stod(field(lines.front(), "share").value_or("0")), 0.5) << lines.front();
  EXPECT_EQ(field(lines.back(), "state"), "cleared") << lines.back();
  EXPECT_TRUE(subject.running());
  EXPECT_EQ(subject.finish(), "");
  EXPECT_THAT(subject.log(), HasSubstr(" bad_per_s="));
  std::cout << lines.front() << "\n" << lines.back() << std::endl;
}

}  // namespace
}  // namespace reseq::test
