// The HTTP client against servers that do what OpenSearch does on bad days only, and over TLS.
#include "consumers/opensearch/http_client.h"

#include <arpa/inet.h>
#include <atomic>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <mutex>
#include <set>
#include <string>
#include <sys/socket.h>
#include <thread>

#include "consumers/opensearch/bulk_body.h"
#include "consumers/opensearch/bulk_writer.h"
#include "consumers/opensearch/target_index.h"
#include "tests/security/certificates.h"
#include "tests/support/good.h"
#include "tests/support/process.h"

namespace reseq::test {
namespace {

using opensearch::BulkBody;
using opensearch::BulkWriter;
using opensearch::HttpAnswer;
using opensearch::HttpClient;
using opensearch::HttpSettings;
using opensearch::ItemAnswer;
using opensearch::Method;
using opensearch::Verdict;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kStartLimitMs = 30'000;

// Answers on loopback what a test wants, and notes what it was asked.
class Answerer {
 public:
  explicit Answerer(httplib::Server::Handler answer) {
    const auto noted = [this, answer = std::move(answer)](const httplib::Request& request,
                                                          httplib::Response& response) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        requests_.push_back(request);
        ports_.insert(request.remote_port);
      }
      answer(request, response);
    };
    server_.Get(".*", noted);
    server_.Post(".*", noted);
    server_.Put(".*", noted);
    server_.set_keep_alive_max_count(1'000);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Answerer() {
    server_.stop();
    thread_.join();
  }
  Answerer(const Answerer&) = delete;
  Answerer& operator=(const Answerer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::vector<httplib::Request> requests() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return requests_;
  }
  // One per connection.
  [[nodiscard]] std::size_t connections() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ports_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<httplib::Request> requests_;
  std::set<int> ports_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

httplib::Server::Handler always(int status, const std::string& body) {
  return [status, body](const httplib::Request&, httplib::Response& response) {
    response.status = status;
    response.set_content(body, "application/json");
  };
}

TEST(HttpClient, KeepsItsConnectionAndSendsWhatItWasGiven) {
  const Answerer server(always(200, "{}"));
  const auto client = good(HttpClient::open({.urls = {server.url()}}));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(good(client->send(Method::kPost, "/a/_bulk?x=y", "line\n")).status, 200);
    EXPECT_EQ(good(client->send(Method::kGet, "/b")).body, "{}");
    EXPECT_EQ(good(client->send(Method::kPut, "/c", "{\"n\":1}")).status, 200);
  }
  EXPECT_EQ(server.connections(), 1U);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 60U);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].body, "line\n");
  EXPECT_EQ(requests[0].get_header_value("Content-Type"), "application/x-ndjson");
  EXPECT_EQ(requests[0].get_header_value("Authorization"), "");
  EXPECT_FALSE(requests[0].has_header("Expect"));
  EXPECT_EQ(requests[1].method, "GET");
  EXPECT_EQ(requests[1].body, "");
  EXPECT_EQ(requests[2].method, "PUT");
  EXPECT_EQ(requests[2].get_header_value("Content-Type"), "application/json");
}

TEST(HttpClient, LogsInWithEveryRequest) {
  const Answerer server(always(200, "{}"));
  const auto by_password = good(HttpClient::open({.urls = {server.url()}, .user = "me", .password = "p:w d"}));
  EXPECT_TRUE(by_password->send(Method::kGet, "/"));
  EXPECT_TRUE(by_password->send(Method::kPost, "/x/_bulk", "{}\n"));
  const auto by_key = good(HttpClient::open({.urls = {server.url()}, .api_key = "a2V5"}));
  EXPECT_TRUE(by_key->send(Method::kGet, "/"));
  EXPECT_TRUE(by_key->send(Method::kPost, "/x/_bulk", "{}\n"));
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_EQ(requests[0].get_header_value("Authorization"), "Basic bWU6cDp3IGQ=");
  EXPECT_EQ(requests[1].get_header_value("Authorization"), "Basic bWU6cDp3IGQ=");
  EXPECT_EQ(requests[2].get_header_value("Authorization"), "ApiKey a2V5");
  EXPECT_EQ(requests[3].get_header_value("Authorization"), "ApiKey a2V5");
}

TEST(HttpClient, RefusesAddressesAndLoginsThatWouldLeak) {
  for (const char* url : {"", "localhost:9200", "ftp://localhost", "http://", "http://me:secret@localhost:9200"}) {
    const auto opened = HttpClient::open({.urls = {url}});
    ASSERT_FALSE(opened) << url;
    EXPECT_EQ(opened.error().what_to_do, ErrorClass::kInvalid);
    EXPECT_THAT(opened.error().message, Not(HasSubstr("secret")));
  }
  EXPECT_FALSE(HttpClient::open({}));
  const auto leaks = [](const std::string& url, bool insecure) {
    return !opensearch::login_is_protected({.urls = {url}, .user = "me", .password = "secret"}, insecure);
  };
  EXPECT_TRUE(leaks("http://search.example:9200", false));
  EXPECT_TRUE(leaks("http://[2001:db8::1]:9200", false));
  EXPECT_FALSE(leaks("http://search.example:9200", true));
  for (const char* url : {"https://search.example", "http://localhost:9200", "http://127.0.0.2", "http://[::1]:9200"})
    EXPECT_FALSE(leaks(url, false)) << url;
  EXPECT_TRUE(opensearch::login_is_protected({.urls = {"http://search.example:9200"}}, false));
}

TEST(HttpClient, DoesNotWaitForeverForAServerThatSaysNothing) {
  // It listens and never answers: the kernel takes the connection.
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const auto client = good(HttpClient::open({.urls = {url}, .request_limit = Milliseconds(200)}));
  const auto answer = client->send(Method::kGet, "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().what_to_do, ErrorClass::kTimeout);
  EXPECT_THAT(answer.error().message, HasSubstr(url));
  ::close(listener);
}

TEST(HttpClient, BoundsWhatItTakes) {
  const Answerer server(always(200, std::string(HttpClient::kAnswerBytesMax + 1, ' ')));
  const auto client = good(HttpClient::open({.urls = {server.url()}}));
  const auto answer = client->send(Method::kGet, "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().what_to_do, ErrorClass::kRetriable);
  EXPECT_THAT(answer.error().message, HasSubstr("64 MiB"));
}

TEST(BulkWriter, GoesAgainWhereTheServerIsBusyOrSomethingElseAnswers) {
  struct Case {
    int status;
    std::string body;
    ErrorClass what_to_do;
    std::string words;
  };
  const std::vector<Case> cases = {
      {429, R"({"error":{"type":"circuit_breaking_exception","reason":"Data too large"}})", ErrorClass::kRetriable,
       "answers 429: circuit_breaking_exception: Data too large"},
      {503, "<html>", ErrorClass::kRetriable, "answers 503"},
      {502, "", ErrorClass::kRetriable, "answers 502"},
      {200, "<html>a proxy</html>", ErrorClass::kRetriable, "another server"},
      {200, R"({"items":[]})", ErrorClass::kRetriable, "another server"},
      {401, "", ErrorClass::kInvalid, "answers 401"},
      {403, R"({"error":{"type":"security_exception","reason":"no permissions for [indices:data/write/bulk]"}})",
       ErrorClass::kInvalid, "no permissions for [indices:data/write/bulk]"},
      {404, "", ErrorClass::kInvalid, "answers 404"},
      {301, "", ErrorClass::kInvalid, "answers 301"},
  };
  for (const Case& one : cases) {
    const Answerer server(always(one.status, one.body));
    const auto client = good(HttpClient::open({.urls = {server.url()}}));
    BulkWriter writer(*client, "/x/_bulk", {});
    BulkBody body;
    body.add_hard_delete("a", Version(1));
    body.add_hard_delete("b", Version(1));
    std::vector<ItemAnswer> answers(2);
    const Result<> sent = writer.send(body, answers);
    ASSERT_FALSE(sent) << one.status;
    EXPECT_EQ(sent.error().what_to_do, one.what_to_do) << one.status;
    EXPECT_THAT(sent.error().message, HasSubstr(one.words));
    for (const ItemAnswer& answer : answers) EXPECT_EQ(answer.verdict, Verdict::kAgain);
    EXPECT_EQ(server.requests().size(), 1U);
  }
}

TEST(BulkWriter, RefusesNoItemWhenNoRequestGoesWell) {
  const Answerer server(always(400, R"({"error":{"type":"illegal_argument_exception","reason":"not as things are"}})"));
  const auto client = good(HttpClient::open({.urls = {server.url()}}));
  BulkWriter writer(*client, "/x/_bulk", {});
  for (const int count : {1, 64}) {
    BulkBody body;
    for (int i = 0; i < count; ++i) body.add_hard_delete(std::to_string(i), Version(1));
    std::vector<ItemAnswer> answers(static_cast<std::size_t>(count));
    const Result<> sent = writer.send(body, answers);
    ASSERT_FALSE(sent) << count;
    EXPECT_EQ(sent.error().what_to_do, ErrorClass::kInvalid);
    EXPECT_THAT(sent.error().message, HasSubstr("answers 400: illegal_argument_exception: not as things are"));
    for (const ItemAnswer& answer : answers) EXPECT_EQ(answer.verdict, Verdict::kAgain) << count;
  }
  EXPECT_EQ(server.requests().size(), 2U + 8U) << "it is not asked about every item";
}

// One that is refused alone, then another request: what that one meets is no fault of the item.
TEST(BulkWriter, RefusesNoItemForWhatIsTheFaultOfTheServerOrItsSettings) {
  struct Case {
    int status;
    std::string body;
    ErrorClass what_to_do;
  };
  const auto item = [](int status, const std::string& type) {
    return R"({"items":[{"index":{"status":)" + std::to_string(status) + R"(,"error":{"type":")" + type +
           R"(","reason":"r"}}}]})";
  };
  const std::vector<Case> cases = {
      {413, "", ErrorClass::kInvalid},
      {401, "", ErrorClass::kInvalid},
      {403, "", ErrorClass::kInvalid},
      {404, "", ErrorClass::kInvalid},
      {429, "", ErrorClass::kRetriable},
      {503, "", ErrorClass::kRetriable},
      {200, "<html>a proxy</html>", ErrorClass::kRetriable},
      {200, item(404, "index_not_found_exception"), ErrorClass::kInvalid},
      {200, item(403, "security_exception"), ErrorClass::kInvalid},
      {200, item(403, "cluster_block_exception"), ErrorClass::kRetriable},
      {200, item(503, "unavailable_shards_exception"), ErrorClass::kRetriable},
  };
  for (const int refusal : {400, 413}) {
    for (const Case& one : cases) {
      std::atomic<int> count = 0;
      const Answerer server([&](const httplib::Request&, httplib::Response& response) {
        const bool is_first = count++ == 0;
        response.status = is_first ? refusal : one.status;
        response.set_content(is_first ? "" : one.body, "application/json");
      });
      const auto client = good(HttpClient::open({.urls = {server.url()}}));
      BulkWriter writer(*client, "/x/_bulk", {});
      BulkBody body;
      body.add_hard_delete("a", Version(1));
      std::vector<ItemAnswer> answers(1);
      const Result<> sent = writer.send(body, answers);
      ASSERT_FALSE(sent) << one.status << one.body;
      EXPECT_EQ(sent.error().what_to_do, one.what_to_do) << one.status << one.body;
      EXPECT_EQ(answers[0].verdict, Verdict::kAgain) << one.status << one.body;
      EXPECT_EQ(server.requests().size(), 2U);
    }
  }
}

TEST(HttpClient, StopsWaitingWhenItIsInterrupted) {
  std::atomic<bool> over = false;
  const Answerer server([&](const httplib::Request&, httplib::Response& response) {
    while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    response.status = 200;
  });
  const auto client = good(HttpClient::open({.urls = {server.url()}}));
  std::thread interrupter([&] {
    while (server.requests().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    client->interrupt();
  });
  const auto begun = std::chrono::steady_clock::now();
  const auto answer = client->send(Method::kGet, "/");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(15));
  over = true;
  interrupter.join();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().what_to_do, ErrorClass::kTimeout);
}

// The server refuses any request that holds item "13", as OpenSearch does with what it cannot read at all.
TEST(BulkWriter, FindsTheOneItemForWhichAWholeRequestIsRefused) {
  const Answerer server([](const httplib::Request& request, httplib::Response& response) {
    if (request.body.find(R"("_id":"13")") != std::string::npos) {
      response.status = 400;
      response.set_content(R"({"error":{"type":"illegal_argument_exception","reason":"thirteen"}})",
                           "application/json");
      return;
    }
    std::string items;
    for (const char character : request.body)
      if (character == '\n') items += std::string(items.empty() ? "" : ",") + R"({"delete":{"status":200}})";
    response.set_content("{\"items\":[" + items + "]}", "application/json");
  });
  const auto client = good(HttpClient::open({.urls = {server.url()}}));
  BulkWriter writer(*client, "/x/_bulk", {});
  BulkBody body;
  for (int i = 0; i < 32; ++i) body.add_hard_delete(std::to_string(i), Version(1));
  std::vector<ItemAnswer> answers(32);
  ASSERT_TRUE(writer.send(body, answers));
  for (std::size_t i = 0; i < answers.size(); ++i)
    EXPECT_EQ(answers[i].verdict, i == 13 ? Verdict::kRefused : Verdict::kStored) << i;
  EXPECT_EQ(answers[13].words, "illegal_argument_exception: thirteen");
  EXPECT_LE(server.requests().size(), 11U) << "halves";
}

// `openssl s_server` on a port of its own, which answers every request over TLS.
class TlsServer {
 public:
  TlsServer(const Certificates::Identity& identity, const std::string& log, const std::vector<std::string>& more = {})
      : log_(log), process_(argv(identity, more), log) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kStartLimitMs);
    while (port().empty()) {
      if (!process_.running() || std::chrono::steady_clock::now() > until) throw std::runtime_error(process_.tail());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  [[nodiscard]] std::string url(const std::string& host = "127.0.0.1") const {
    return "https://" + host + ":" + port();
  }

 private:
  static std::vector<std::string> argv(const Certificates::Identity& identity, const std::vector<std::string>& more) {
    std::vector<std::string> argv = {"openssl", "s_server",   "-accept", "127.0.0.1:0", "-cert", identity.certificate,
                                     "-key",    identity.key, "-www"};
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
  }
  [[nodiscard]] std::string port() const {
    std::ifstream file(log_);
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("ACCEPT ") && !file.eof()) return line.substr(line.rfind(':') + 1);
    return "";
  }
  std::string log_;
  Process process_;
};

TEST(HttpClient, TalksTlsOnlyToWhomItWasToldToTrust) {
  const TempDir folder;
  Certificates certificates(folder.path() + "/certificates");
  const auto identity = certificates.issue("server", "IP:127.0.0.1");
  const TlsServer server(identity, folder.path() + "/log");
  const auto answer_of = [&](HttpSettings settings) {
    const auto client = good(HttpClient::open(settings));
    const auto answer = client->send(Method::kGet, "/");
    return answer ? std::to_string(answer.value().status) : answer.error().message;
  };
  EXPECT_EQ(answer_of({.urls = {server.url()}, .ca_file = certificates.authority()}), "200");
  EXPECT_THAT(answer_of({.urls = {server.url()}}), HasSubstr("--ca-file"));
  EXPECT_THAT(answer_of({.urls = {server.url()}, .ca_file = certificates.authority("another")}),
              HasSubstr("--ca-file"));
  EXPECT_THAT(answer_of({.urls = {server.url("localhost")}, .ca_file = certificates.authority()}), HasSubstr("TLS"))
      << "a certificate for another name";
  const auto refused = good(HttpClient::open({.urls = {server.url()}}))->send(Method::kGet, "/");
  EXPECT_EQ(refused.error().what_to_do, ErrorClass::kInvalid);
}

TEST(HttpClient, ShowsItsOwnCertificateWhereOneIsAskedFor) {
  const TempDir folder;
  Certificates certificates(folder.path() + "/certificates");
  const auto identity = certificates.issue("server", "IP:127.0.0.1");
  const auto own = certificates.issue("sink", "DNS:sink");
  const TlsServer server(identity, folder.path() + "/log",
                         {"-Verify", "1", "-verify_return_error", "-CAfile", certificates.authority()});
  HttpSettings settings{.urls = {server.url()}, .ca_file = certificates.authority()};
  EXPECT_FALSE(good(HttpClient::open(settings))->send(Method::kGet, "/"));
  settings.certificate_file = own.certificate;
  settings.key_file = own.key;
  EXPECT_EQ(good(good(HttpClient::open(settings))->send(Method::kGet, "/")).status, 200);
}

// The words of the security plugin, of which a node of the tests has none.
TEST(TrialOfWriting, TellsTheRightThatIsMissing) {
  const opensearch::TargetIndex index({.name = "shop"});
  const auto why = [&](int status, const std::string& body, opensearch::TargetIndex::Trial trial) {
    const Answerer server(always(status, body));
    const auto client = good(HttpClient::open({.urls = {server.url()}}));
    auto answer = index.why_not_writable(*client, trial);
    return answer ? answer.value() : answer.error().message;
  };
  using Trial = opensearch::TargetIndex::Trial;
  const std::string conflict = R"("status":409,"error":{"type":"version_conflict_engine_exception","reason":"x"}}})";
  const std::string denied = R"("status":403,"error":{"type":"security_exception",)"
                             R"("reason":"no permissions for [indices:data/write/delete]"}}})";
  EXPECT_EQ(why(200, R"({"items":[{"index":{)" + conflict + "]}", Trial::kIndex), "");
  EXPECT_THAT(why(200, R"({"items":[{"index":{)" + denied + "]}", Trial::kIndex),
              HasSubstr("no permissions for [indices:data/write/delete]. This login lacks a right"));
  EXPECT_THAT(
      why(200, R"({"items":[{"index":{)" + conflict + R"(,{"delete":{)" + denied + "]}", Trial::kIndexAndDelete),
      HasSubstr("no permissions for [indices:data/write/delete]. This login lacks a right"));
  EXPECT_THAT(
      why(403, R"({"error":{"type":"security_exception","reason":"no permissions for [indices:data/write/bulk]"}})",
          Trial::kIndex),
      HasSubstr("This login lacks a right"));
}

}  // namespace
}  // namespace reseq::test
