// A server that dies in the middle of writes, or takes less than is sent, loses nothing that it has acknowledged.
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>

#include "consumers/opensearch/bulk_writer.h"
#include "tests/opensearch/scene.h"
#include "tests/opensearch/writes.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using opensearch::BulkBody;
using opensearch::BulkWriter;
using opensearch::HttpClient;
using opensearch::ItemAnswer;
using opensearch::Verdict;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = remote::Answer::Kind;

constexpr std::size_t kRequestMax = 200 * 1024;

class Outage : public testing::Test {
 protected:
  static SearchServer& server() {
    static SearchServer server({"http.max_content_length=200kb"});
    return server;
  }
};

TEST_F(Outage, RequestsThatAreTooLargeAreSentInParts) {
  const auto settings = settings_of(server());
  const auto store = prepared(settings);
  Writes writes;
  for (int i = 0; i < 40; ++i)
    writes.upsert("fits-" + std::to_string(i), 1, json{{"text", std::string(20'000, 'x')}}.dump());
  writes.upsert("too-large", 1, json{{"text", std::string(kRequestMax, 'x')}}.dump());
  for (int i = 40; i < 60; ++i) writes.upsert("fits-" + std::to_string(i), 1, "{}");
  ASSERT_TRUE(writes.to(*store));
  for (std::size_t i = 0; i < writes.answers().size(); ++i)
    EXPECT_EQ(writes.answers()[i].kind, i == 40 ? Kind::kRefused : Kind::kStored) << i;
  EXPECT_THAT(writes.answers()[40].words, HasSubstr("http.max_content_length"));
  EXPECT_EQ(server().documents(settings.index.name).size(), 60U);
}

TEST_F(Outage, ADocumentThatIsTooLargeIsRefusedThoughItIsAlone) {
  const auto settings = settings_of(server());
  const auto store = prepared(settings);
  Writes writes;
  writes.upsert("too-large", 1, json{{"text", std::string(kRequestMax, 'x')}}.dump());
  ASSERT_TRUE(writes.to(*store));
  EXPECT_THAT(writes.kinds(), ElementsAre(Kind::kRefused));
  EXPECT_THAT(writes.answers()[0].words, HasSubstr("http.max_content_length"));
}

// A version that no record has: the server looks at no item of such a request.
TEST_F(Outage, AnItemForWhichTheServerRefusesTheRequestIsRefusedThoughItIsAlone) {
  const auto settings = settings_of(server());
  const auto store = prepared(settings);
  const auto client = good(HttpClient::open(settings.http));
  BulkWriter writer(*client, "/" + settings.index.name + "-v1-write/_bulk?require_alias=true", {});
  BulkBody body;
  body.add_delete("x", Version(std::uint64_t{1} << 63U));
  std::vector<ItemAnswer> answers(1);
  const Result<> sent = writer.send(body, answers);
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_EQ(answers[0].verdict, Verdict::kRefused);
  EXPECT_THAT(answers[0].words, HasSubstr("illegal version value"));
  EXPECT_EQ(server().ask("GET", "/" + settings.index.name + "-v1/_doc/reseq-check")["status"], 404);
}

TEST_F(Outage, ARequestThatIsRefusedWhateverItHoldsRefusesNoItem) {
  const auto settings = settings_of(server());
  const auto store = prepared(settings);
  const auto client = good(HttpClient::open(settings.http));
  BulkWriter writer(*client, "/" + settings.index.name + "-v1-write/_bulk?no_such_parameter=1", {});
  BulkBody body;
  body.add_delete("x", Version(1));
  std::vector<ItemAnswer> answers(1);
  const Result<> sent = writer.send(body, answers);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(sent.error().message, HasSubstr("no_such_parameter"));
  EXPECT_EQ(answers[0].verdict, Verdict::kAgain);
}

TEST_F(Outage, RequestsAreNotLargerThanAsked) {
  auto settings = settings_of(server());
  settings.bulk.request_bytes = kRequestMax / 2;
  const auto store = prepared(settings);
  Writes writes;
  for (int i = 0; i < 100; ++i)
    writes.upsert(std::to_string(i), 1, json{{"text", std::string(10'000, 'x')}, {"n", i}}.dump());
  ASSERT_TRUE(writes.to(*store));
  EXPECT_THAT(writes.kinds(), Each(Kind::kStored));
  const auto seen = server().documents(settings.index.name);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen.at(std::to_string(i))["n"], i);
}

// Every document is written several times, newer and older versions in turns, while the server is killed.
TEST_F(Outage, AServerThatIsKilledInTheMiddleOfWritesKeepsTheNewestOfEachDocument) {
  const auto settings = settings_of(server());
  constexpr int kDocuments = 200;
  constexpr int kRounds = 30;
  std::atomic<int> round = 0;
  std::thread writer([&] {
    const auto store = prepared(settings);
    for (; round < kRounds; ++round) {
      Writes writes;
      for (int i = 0; i < kDocuments; ++i) {
        const int version = 1 + (round * 7 + i) % kRounds;
        const std::string id = "d" + std::to_string(i);
        if (version == kRounds && i % 3 == 0)
          writes.remove(id, static_cast<std::uint64_t>(version), 1);
        else
          writes.upsert(id, static_cast<std::uint64_t>(version), json{{"n", version}, {"i", i}}.dump());
      }
      writes.all_to(*store);
    }
  });
  for (const int kill_at : {5, 12}) {
    while (round < kill_at) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    server().kill();
    server().start_again();
  }
  writer.join();
  const auto seen = server().documents(settings.index.name);
  for (int i = 0; i < kDocuments; ++i) {
    const auto found = seen.find("d" + std::to_string(i));
    if (i % 3 == 0) {
      EXPECT_EQ(found, seen.end()) << i;
    } else {
      ASSERT_NE(found, seen.end()) << i;
      EXPECT_EQ(found->second["_version"], kRounds) << i;
      EXPECT_EQ(found->second["n"], kRounds) << i;
    }
  }
}

TEST_F(Outage, ADeleteIsRememberedBehindAFlushAndARestart) {
  const auto settings = settings_of(server());
  auto store = prepared(settings);
  Writes writes;
  ASSERT_TRUE(writes.upsert("a", 1, "{}").remove("b", 150, 1).to(*store));
  Writes deletes;
  ASSERT_TRUE(deletes.remove("a", 150, 1).to(*store));
  (void)server().good("POST", "/" + settings.index.name + "-v1/_flush?force=true");
  server().stop();
  Writes late;
  late.upsert("a", 120, "{}").upsert("b", 120, "{}");
  const Result<> away = late.to(*store);
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().what_to_do, ErrorClass::kRetriable);
  EXPECT_THAT(late.kinds(), Each(Kind::kAgain));
  server().start_again();
  late.all_to(*store);
  EXPECT_THAT(late.kinds(), ElementsAre(Kind::kNotNewer, Kind::kNotNewer));
  EXPECT_TRUE(server().documents(settings.index.name).empty());
}

}  // namespace
}  // namespace reseq::test
