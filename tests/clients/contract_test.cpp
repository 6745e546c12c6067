// One contract, three clients that know nothing but headers: kcat, Python's confluent-kafka, Java's own library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "tests/clients/application.h"
#include "tests/clients/fences.h"
#include "tests/clients/steps.h"

namespace reseq::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// Of four partitions murmur2 sends this key to partition 1, CRC32 to partition 2.
constexpr const char* kKey = "products/1";
constexpr const char* kDefault = "default";

// Versions of the outputs in the order of reading, by topic and document.
std::map<std::string, std::vector<std::uint64_t>> versions_in(const Transcript& transcript) {
  std::map<std::string, std::vector<std::uint64_t>> versions;
  for (const std::string& line : transcript.lines) {
    std::istringstream words(line);
    std::string read, topic, key;
    words >> read >> topic >> key;
    const std::size_t at = line.find(" reseq-version=");
    if (!topic.starts_with("output.") || at == std::string::npos) continue;
    versions[topic + " " + key].push_back(std::stoull(line.substr(line.find('=', at) + 1)));
  }
  return versions;
}

class Contract : public testing::TestWithParam<Client> {};

TEST_P(Contract, NeedsHeadersOnly) {
  const std::string steps = source_file("tests/clients/contract.txt");
  Application application;
  const Transcript transcript = application.play(GetParam(), steps);
  EXPECT_THAT(differences(steps, transcript), IsEmpty()) << application.log();
  const auto versions = versions_in(transcript);
  EXPECT_GE(versions.size(), 5U);
  for (const auto& [document, stamps] : versions)
    for (std::size_t i = 1; i < stamps.size(); ++i) EXPECT_GT(stamps[i], stamps[i - 1]) << document;
}

INSTANTIATE_TEST_SUITE_P(Clients, Contract, testing::Values(Client::kKcat, Client::kPython, Client::kJava),
                         [](const auto& param) { return name_of(param.param); });

std::string request(const std::string& key) {
  return "send requests " + key + " x reseq-seq=1\n";
}

TEST(Partitioner, OfLibrdkafkaByDefaultIsMisrouted) {
  for (const Client client : {Client::kKcat, Client::kPython}) {
    SCOPED_TRACE(name_of(client));
    Application application;
    const std::string wrong = request(kKey) + "read dead-letter " + kKey +
                              " x reseq-seq=1 reseq-reason=misrouted reseq-source-topic=* reseq-source-partition=2 "
                              "reseq-source-offset=0 reseq-first-written=*\n";
    EXPECT_THAT(differences(wrong, application.play(client, wrong, kDefault)), IsEmpty()) << application.log();
    const std::string right = request(kKey) + "read work " + kKey + " x reseq-seq=1 reseq-epoch=0 reseq-targets=*\n";
    EXPECT_THAT(differences(right, application.play(client, right)), IsEmpty()) << application.log();
  }
}

// What is written keeps to the same partitioner, so that a topic which exists already goes on as it began.
TEST(Partitioner, Crc32TakesLibrdkafkaAsItIs) {
  for (const Client client : {Client::kKcat, Client::kPython}) {
    SCOPED_TRACE(name_of(client));
    Application application("partitioner = \"crc32\"\ninit.work_partitions = 4\ninit.output_partitions = 4\n");
    std::string steps, index;
    for (int i = 1; i <= 4; ++i) {
      const std::string key = "products/" + std::to_string(i);
      steps += request(key) + "read work " + key + " x reseq-seq=1 reseq-epoch=0 reseq-targets=*\n" +
               "answer search result\nread output.search " + key +
               " result reseq-seq=1 reseq-epoch=0 reseq-targets=* reseq-target=search reseq-version=*\n";
      index += "index " + key + " result\n";
    }
    EXPECT_THAT(differences(steps + index, application.play(client, steps, kDefault)), IsEmpty()) << application.log();
    const auto places = [&](const std::string& topic) {
      return application.run_script("kcat -C -b localhost:9092 -t shop." + topic + R"( -e -q -f '%k %p\n' | sort)")
          .lines;
    };
    const auto requests = places("requests");
    EXPECT_THAT(requests, testing::SizeIs(4));
    EXPECT_EQ(places("work"), requests);
    EXPECT_EQ(places("output.search"), requests);
  }
}

TEST(Differences, NameEveryKindOfWrongLine) {
  const std::string steps = "# text\nsend requests a b\nread work a b x=*\nindex a b\n";
  EXPECT_THAT(differences(steps, {0, {"%5 log", "read work a b x=12", "index a b"}}), IsEmpty());
  EXPECT_THAT(differences(steps, {1, {"read work a b x=12", "index a b"}}), Contains(HasSubstr("exit code 1\n")));
  EXPECT_THAT(differences(steps, {0, {"read work a c x=12", "index a b"}}),
              Contains(HasSubstr("got      read work a c")));
  EXPECT_THAT(differences(steps, {0, {"read work a b x=12 y=1", "index a b"}}), testing::SizeIs(1));
  EXPECT_THAT(differences(steps, {0, {"read work a b x=12"}}), Contains(HasSubstr("got      (nothing)")));
  EXPECT_THAT(differences(steps, {0, {"read work a b x=12", "index a b", "index c d"}}), testing::SizeIs(1));
}

}  // namespace
}  // namespace reseq::test
