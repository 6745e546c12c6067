// Who answered before this process began, from the topic of replies of a real broker.
#include "runtime/desk/page_recall.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

#include "kafka/plain_producer.h"
#include "runtime/application/clock.h"
#include "tests/component/rig.h"

namespace reseq::runtime {
namespace {

using admin::Json;
using test::good;

constexpr std::int64_t kMinute = 60'000;

class PageRecall : public testing::Test {
 protected:
  PageRecall() : rig_(1, 2) {
    kafka::ClusterSettings settings = rig_.settings("1");
    producer_ = good(kafka::PlainProducer::open(settings.connection));
    configured_.application_id = "app";
    configured_.instance_id = "1";
    configured_.bootstrap_servers = settings.connection.bootstrap_servers;
    configured_.topic_admin_replies = rig_.topic(0);
    bounds_.time = Milliseconds(10 * kMinute);  // a sanitizer on a busy machine reads slowly
    configured_.targets = {{.name = "search"}};
  }

  static Json reply_of(const std::string& instance) {
    return {{"query", "stats"},       {"application", "app"}, {"instance", instance},
            {"host", "h" + instance}, {"version", "1.0"},     {"workers", 2}};
  }
  // Brokers take no times that are far from theirs.
  [[nodiscard]] UnixMs before(std::int64_t ms) const { return UnixMs(now_.value() - ms); }
  void write_bytes(const std::string& payload, UnixMs at, int partition = 0) {
    good(producer_->send(rig_.topic(0), "id", payload, {}, at, Partition(partition)));
  }
  void write(const Json& reply, UnixMs at, int partition = 0) { write_bytes(reply.dump(), at, partition); }

  // By instance, when each was heard.
  std::map<std::string, std::string> recalled(bool whole = true) {
    good(producer_->flush(kafka::kLong));
    const Application application{configured_};
    const auto read = good(recall_instances(application, now_, stop_, memory_, bounds_));
    EXPECT_EQ(read, whole);
    std::map<std::string, std::string> heard;
    for (const Json& one : memory_.silent(admin::Answers(), now_)) heard[one["instance"]] = one["heard"];
    return heard;
  }
  static std::string text(UnixMs at) { return admin::time_text(at); }

  const UnixMs now_ = SystemClock().now();
  kafka::Rig rig_;
  std::unique_ptr<kafka::PlainProducer> producer_;
  config::Settings configured_;
  std::atomic<bool> stop_ = false;
  PageMemory memory_;
  RecallBounds bounds_;
};

TEST_F(PageRecall, HearsEachInstanceWhenItAnsweredLast) {
  write(reply_of("2"), before(10 * kMinute));
  write(reply_of("3"), before(9 * kMinute), 1);
  write(reply_of("2"), before(4 * kMinute), 1);
  write(reply_of("3"), before(8 * kMinute), 0);
  using Heard = std::map<std::string, std::string>;
  EXPECT_EQ(recalled(), (Heard{{"2", text(before(4 * kMinute))}, {"3", text(before(8 * kMinute))}}));
  EXPECT_EQ(memory_.silent(admin::Answers(), now_)[0], (Json{{"instance", "2"},
                                                             {"host", "h2"},
                                                             {"version", "1.0"},
                                                             {"workers", 2},
                                                             {"heard", text(before(4 * kMinute))}}));
}

TEST_F(PageRecall, PassesOverWhatIsOlderOfOthersOrNoReply) {
  write(reply_of("too old"), before(15 * kMinute + 1));
  write(reply_of("1"), before(kMinute));  // ourselves
  for (const char* name : {"query", "application"}) {
    Json other = reply_of("other");
    other[name] = "other";
    write(other, before(kMinute));
  }
  for (const char* bytes : {"", "{", "[]", "null", "\xFF\xFE", R"({"query": 7, "instance": []})"})
    write_bytes(bytes, before(kMinute));
  write_bytes(std::string(100'000, '['), before(kMinute));
  write(reply_of("younger than now"), before(-kMinute));
  write(reply_of("older, behind younger ones"), before(16 * kMinute));
  EXPECT_EQ(recalled(), (std::map<std::string, std::string>{{"younger than now", text(now_)}}));
}

TEST_F(PageRecall, IsEmptyWhereNobodyAnswered) {
  EXPECT_TRUE(recalled().empty());
  write(reply_of("too old"), before(60 * kMinute));
  EXPECT_TRUE(recalled().empty());
}

TEST_F(PageRecall, SaysThatThereIsNoSuchTopic) {
  configured_.topic_admin_replies = rig_.name() + ".nowhere";
  const Application application{configured_};
  const auto read = recall_instances(application, now_, stop_, memory_);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what_to_do, ErrorClass::kInvalid) << read.error().message;
}

// The newest come first, and one that was not read to its end says nothing: it would be heard too early.
TEST_F(PageRecall, EndsAtItsBytesWithTheNewest) {
  const std::string filler(500'000, ' ');
  bounds_.bytes = 2 * 8 * filler.size();  // for each of two partitions as much as the first piece
  write(reply_of("3"), before(12 * kMinute));
  for (int i = 0; i < 18; ++i) write_bytes(filler, before(10 * kMinute));
  write(reply_of("2"), before(9 * kMinute));
  EXPECT_EQ(recalled(false), (std::map<std::string, std::string>{{"2", text(before(9 * kMinute))}}));
}

TEST_F(PageRecall, ReadsNoLongerThanItsTime) {
  write(reply_of("2"), before(kMinute));
  bounds_.time = Milliseconds(0);
  EXPECT_TRUE(recalled(false).empty());
  bounds_.time = Milliseconds(10 * kMinute);
  EXPECT_EQ(recalled().size(), 1);
}

TEST_F(PageRecall, EndsWhenItIsToStop) {
  write(reply_of("2"), before(kMinute));
  stop_ = true;
  EXPECT_TRUE(recalled(false).empty());
}

}  // namespace
}  // namespace reseq::runtime
