// The instance that serves the page was started again after the others had died for good.
#include <chrono>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <httplib.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "admin/document_json.h"
#include "kafka/admin.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/page/after_alert.h"
#include "tests/support/count_of.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

using nlohmann::json;
using Heard = std::map<std::string, std::string>;

constexpr std::chrono::milliseconds kStartedLimit{60'000};

// Who answered, and the time of the record in which he did so last.
Heard answered(Office& office) {
  Heard last;
  read_all(office.application().connection(), office.application().topic("admin.replies"),
           [&](const kafka::PlainRecord& record) {
             const json reply = json::parse(record.payload.value_or(""));
             if (reply["query"] == "stats") last[reply["instance"]] = admin::time_text(record.timestamp);
           });
  return last;
}

// Instances that answer no more, as the first picture tells that has enough of them, or the last within kStartedLimit.
json silent_of_picture(int port, const std::function<bool(const json& silent)>& is_enough) {
  json silent;
  std::string text;
  const auto until = std::chrono::steady_clock::now() + kStartedLimit;
  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(20);
  client.Get("/page/pictures", [&](const char* data, std::size_t size) {
    text.append(data, size);
    for (std::size_t end = text.find("\n\n"); end != std::string::npos; end = text.find("\n\n")) {
      if (text.starts_with("data: ")) silent = json::parse(text.substr(6, end - 6))["silent"];
      text.erase(0, end + 2);
    }
    return !is_enough(silent) && std::chrono::steady_clock::now() < until;
  });
  return silent;
}

TEST_F(AfterAlert, KnowsAfterARestartWhoAnsweredBeforeAndWhenItWasLast) {
  Office restarted("");
  (void)restarted.run_json({"stats"});
  restarted.fleet().kill(3);
  restarted.fleet().kill(2);
  const int port = restarted.http_port(1);
  restarted.fleet().kill(1);
  Heard expected = answered(restarted);
  ASSERT_EQ(expected.size(), 3U);
  expected.erase("1");

  restarted.fleet().start(1);
  ASSERT_TRUE(wait_until(kStartedLimit, [&] { return restarted.http_port(1) != port; }))
      << restarted.fleet().process(1).tail();
  const json silent =
      silent_of_picture(restarted.http_port(1), [&](const json& told) { return told.size() == expected.size(); });
  Heard heard;
  for (const json& one : silent) heard[one["instance"]] = one["heard"];
  EXPECT_EQ(heard, expected) << silent << restarted.fleet().process(1).tail();
}

// It serves all the same, and does not fill the log while it tries again.
TEST_F(AfterAlert, SaysOnceAfterARestartThatTheTopicOfRepliesCannotBeRead) {
  Office restarted("");
  ResequencerRun& application = restarted.application();
  for (const int instance : {3, 2, 1}) EXPECT_EQ(restarted.fleet().stop(instance), 0);
  const std::string replies = application.topic("admin.replies");
  good(good(kafka::Admin::open(application.connection()))->delete_topics({&replies, 1}, Milliseconds(30'000)));
  const int port = restarted.http_port(1);
  restarted.fleet().start(1);
  ASSERT_TRUE(wait_until(kStartedLimit, [&] { return restarted.http_port(1) != port; }));
  EXPECT_TRUE(wait_until(kStartedLimit, [&] { return restarted.get(1, "/readyz").status == 200; }));
  const auto told = [&] {
    std::ifstream log(application.log_file(1));
    return count_of(std::string{std::istreambuf_iterator<char>(log), std::istreambuf_iterator<char>()}, "page=recall");
  };
  EXPECT_TRUE(wait_until(kStartedLimit, [&] { return told() > 0; }));
  std::this_thread::sleep_for(std::chrono::seconds(35));  // it was tried twice more
  EXPECT_EQ(told(), 1) << restarted.fleet().process(1).tail();
  EXPECT_EQ(restarted.get(1, "/readyz").status, 200);
}

}  // namespace
}  // namespace reseq::test
