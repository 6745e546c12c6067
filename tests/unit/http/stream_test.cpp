// Streams, what takes its time, and what is for this host alone.
#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <condition_variable>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <ifaddrs.h>
#include <mutex>
#include <net/if.h>
#include <thread>

#include "http/broadcast.h"
#include "http/server.h"

namespace reseq::http {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kStreamHost = "127.0.0.1";

template <typename Condition>
bool becomes(const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// Somebody who listens to a stream until told to leave.
class Viewer {
 public:
  explicit Viewer(int port) : client_(kStreamHost, port), thread_([this] { listen(); }) {}
  ~Viewer() {
    client_.stop();
    thread_.join();
  }
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  bool hears(const std::string& text) {
    return becomes([&] {
      const std::lock_guard lock(mutex_);
      return heard_.find(text) != std::string::npos;
    });
  }
  bool ends() {
    return becomes([&] { return ended_.load(); });
  }

 private:
  void listen() {
    client_.set_read_timeout(20);
    client_.Get("/stream", [this](const char* bytes, std::size_t size) {
      const std::lock_guard lock(mutex_);
      heard_.append(bytes, size);
      return true;
    });
    ended_ = true;
  }

  httplib::Client client_;
  std::mutex mutex_;
  std::string heard_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

class Streams : public testing::Test {
 protected:
  Streams() {
    const auto port = server_.start(kStreamHost, 0);
    EXPECT_TRUE(port.ok());
    port_ = port.value();
  }

  Broadcast broadcast_;
  Server server_{{{"/open", [](const Question&) { return Answer{.body = "open"}; }}},
                 {{"/stream", [this] { return broadcast_.listen(); }, 2}}};
  int port_ = 0;
};

TEST_F(Streams, GiveEachListenerTheNewest) {
  broadcast_.send("before anybody listened");
  Viewer one(port_);
  ASSERT_TRUE(becomes([&] { return broadcast_.listeners() == 1; }));
  broadcast_.send("first");
  EXPECT_TRUE(one.hears("data: first\n\n"));
  Viewer other(port_);
  EXPECT_TRUE(other.hears("data: first\n\n")) << "who comes later does not wait for the next one";
  broadcast_.send("second");
  EXPECT_TRUE(one.hears("data: second\n\n"));
  EXPECT_TRUE(other.hears("data: second\n\n"));
}

TEST_F(Streams, StartWithNothingThatIsOld) {
  {
    Viewer one(port_);
    ASSERT_TRUE(becomes([&] { return broadcast_.listeners() == 1; }));
    broadcast_.send("old");
    EXPECT_TRUE(one.hears("old"));
  }
  ASSERT_TRUE(becomes([&] { return broadcast_.listeners() == 0; }));
  const auto later = broadcast_.listen();
  EXPECT_EQ(later->next(10ms), nullptr);
}

TEST_F(Streams, RefuseTheOneThatIsTooManyAndGoOnWhenThereIsRoom) {
  Viewer one(port_);
  {
    Viewer other(port_);
    ASSERT_TRUE(becomes([&] { return broadcast_.listeners() == 2; }));
    httplib::Client client(kStreamHost, port_);
    const auto refused = client.Get("/stream");
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 503);
    EXPECT_THAT(refused->body, HasSubstr("no more than 2 of these at once"));
    EXPECT_EQ(client.Get("/open")->body, "open") << "streams take nothing from the others";
    broadcast_.send("newest");
  }
  ASSERT_TRUE(becomes([&] { return broadcast_.listeners() == 1; }));
  Viewer next(port_);
  EXPECT_TRUE(next.hears("newest"));
}

TEST(ManyStreams, TakeNoThreadFromOthers) {
  constexpr std::size_t kMany = 12;
  Broadcast broadcast;
  Server server({{"/open", [](const Question&) { return Answer{.body = "open"}; }}},
                {{"/stream", [&] { return broadcast.listen(); }, kMany}});
  const auto port = server.start(kStreamHost, 0);
  ASSERT_TRUE(port.ok());
  std::vector<std::unique_ptr<Viewer>> viewers;
  for (std::size_t i = 0; i < kMany; ++i) viewers.push_back(std::make_unique<Viewer>(port.value()));
  ASSERT_TRUE(becomes([&] { return broadcast.listeners() == kMany; }));
  const auto got = httplib::Client(kStreamHost, port.value()).Get("/open");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->body, "open");
}

TEST_F(Streams, EndWithTheServer) {
  Viewer one(port_);
  ASSERT_TRUE(becomes([&] { return broadcast_.listeners() == 1; }));
  const auto before = std::chrono::steady_clock::now();
  server_.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
  EXPECT_TRUE(one.ends());
  EXPECT_EQ(broadcast_.listeners(), 0U);
}

TEST_F(Streams, NoticeThatNobodyReadsAnyMoreWhileThereIsNothingToSay) {
  {
    httplib::Client client(kStreamHost, port_);
    client.set_read_timeout(0, 100'000);
    EXPECT_FALSE(client.Get("/stream", [](const char*, std::size_t) { return true; }));
  }
  const auto left = std::chrono::steady_clock::now();
  EXPECT_TRUE(becomes([&] { return broadcast_.listeners() == 0; }));
  EXPECT_LT(std::chrono::steady_clock::now() - left, 3s) << "not only when it has to say something";
}

TEST(Broadcast, TellsWhoSendsWhetherAnybodyListens) {
  Broadcast broadcast;
  EXPECT_FALSE(broadcast.wait_for_listener(1ms));
  std::unique_ptr<Listener> listener;
  std::thread comes([&] {
    std::this_thread::sleep_for(20ms);
    listener = broadcast.listen();
  });
  EXPECT_TRUE(broadcast.wait_for_listener(20s));
  comes.join();
  broadcast.send("a");
  broadcast.send("b");
  EXPECT_EQ(*listener->next(1ms), "b") << "who is slow misses what was in between";
  EXPECT_EQ(listener->next(1ms), nullptr);
}

TEST(Answers, ThatTakeTheirTimeAreFewAtOnce) {
  std::mutex mutex;
  std::condition_variable changed;
  int working = 0;
  bool go = false;
  Server server({{"/slow",
                  [&](const Question& asked) {
                    std::unique_lock lock(mutex);
                    ++working;
                    changed.wait(lock, [&] { return go; });
                    return Answer{.body = asked.parameters.at("id")};
                  },
                  For::kThisHost, 2}});
  const auto port = server.start(kStreamHost, 0);
  ASSERT_TRUE(port.ok());
  std::vector<std::thread> askers;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 2; ++i)
    askers.emplace_back([&] {
      const auto got = httplib::Client(kStreamHost, port.value()).Get("/slow?id=%41%2B");
      if (got && got->body == "A+") ++answered;
    });
  ASSERT_TRUE(becomes([&] {
    const std::lock_guard lock(mutex);
    return working == 2;
  }));
  EXPECT_EQ(httplib::Client(kStreamHost, port.value()).Get("/slow?id=1")->status, 503);
  {
    const std::lock_guard lock(mutex);
    go = true;
  }
  changed.notify_all();
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(answered, 2);
  EXPECT_EQ(httplib::Client(kStreamHost, port.value()).Get("/slow?id=1")->body, "1");
}

TEST(Answers, ForThisHostAreForNobodyElse) {
  Server server({{"/all", [](const Question&) { return Answer{}; }},
                 {"/own", [](const Question&) { return Answer{}; }, For::kThisHost}},
                {{"/stream", [] { return std::unique_ptr<Listener>(); }, 0}});
  const auto port = server.start(kStreamHost, 0);
  ASSERT_TRUE(port.ok());
  httplib::Client client(kStreamHost, port.value());
  EXPECT_EQ(client.Get("/own")->status, 200);
  const httplib::Headers rebound = {{"Host", "rebound.example"}};
  EXPECT_EQ(client.Get("/all", rebound)->status, 200);
  EXPECT_EQ(client.Get("/own", rebound)->status, 403);
  EXPECT_EQ(client.Get("/stream", rebound)->status, 403);
  EXPECT_EQ(client.Get("/stream", {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Dest", "empty"}})->status, 403);
}

// An address of this machine that is not loopback: a connection to it comes from it. Empty: there is none.
std::string address_of_this_machine() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  std::string found;
  for (const ifaddrs* one = all; one != nullptr && found.empty(); one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    std::array<char, INET_ADDRSTRLEN> text = {};
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size()) != nullptr) found = text.data();
  }
  ::freeifaddrs(all);
  return found;
}

TEST(Answers, ForThisHostAreForTheGatewayWhereThatIsLetIn) {
  const std::string gateway = address_of_this_machine();
  if (gateway.empty()) GTEST_SKIP() << "this machine has no address but loopback";
  for (const bool let_in : {false, true}) {
    Server server({{"/own", [](const Question&) { return Answer{}; }, For::kThisHost}},
                  {{"/stream", [] { return std::unique_ptr<Listener>(); }, 0}}, {}, let_in ? gateway : "");
    const auto port = server.start("0.0.0.0", 0);
    ASSERT_TRUE(port.ok());
    httplib::Client client(gateway, port.value());
    const httplib::Headers published = {{"Host", "localhost:9464"}};
    EXPECT_EQ(client.Get("/own", published)->status, let_in ? 200 : 403);
    EXPECT_EQ(client.Get("/stream", published)->status, let_in ? 503 : 403);
    EXPECT_EQ(client.Get("/own", {{"Host", gateway}})->status, 403);
  }
}

TEST(Answers, LetABrowserDoNothingElseWithThem) {
  Server server({{"/page", [](const Question&) { return Answer{.content_type = "text/html"}; }}});
  const auto port = server.start(kStreamHost, 0);
  ASSERT_TRUE(port.ok());
  const auto got = httplib::Client(kStreamHost, port.value()).Get("/page");
  ASSERT_TRUE(got);
  const std::string policy = got->get_header_value("Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"));
  EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(policy, testing::Not(HasSubstr("unsafe")));
  EXPECT_EQ(got->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(got->get_header_value("Cache-Control"), "no-store");
  EXPECT_EQ(got->get_header_value("Referrer-Policy"), "no-referrer");
  EXPECT_EQ(got->get_header_value("Cross-Origin-Resource-Policy"), "same-origin");
}

}  // namespace
}  // namespace reseq::http
