#include "http/server.h"

#include <atomic>
#include <gtest/gtest.h>
#include <httplib.h>

namespace reseq::http {
namespace {

constexpr const char* kServerHost = "127.0.0.1";

TEST(Server, AnswersItsPathsAndNothingElse) {
  Server server({{"/a", [](const Question&) { return Answer{.body = "one"}; }},
                 {"/b", [](const Question&) { return Answer{.status = 503, .body = "no"}; }}});
  const auto port = server.start(kServerHost, 0);
  ASSERT_TRUE(port.ok()) << port.error().message;
  httplib::Client client(kServerHost, port.value());
  const auto a = client.Get("/a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->status, 200);
  EXPECT_EQ(a->body, "one");
  EXPECT_EQ(a->get_header_value("Cache-Control"), "no-store");
  EXPECT_EQ(client.Get("/b")->status, 503);
  EXPECT_EQ(client.Get("/c")->status, 404);
  EXPECT_EQ(client.Post("/a", "x", "text/plain")->status, 405);
  EXPECT_EQ(client.Get("/a", {{"Range", "bytes=0-1"}})->status, 405);
}

TEST(Server, TakesOperationsOnlyFromWhoMeansThem) {
  std::atomic<int> done = 0;
  Server server({{"/a", [](const Question&) { return Answer{.body = "one"}; }},
                 {.path = "/do",
                  .answer =
                      [&](const Question& asked) {
                        ++done;
                        return Answer{.body = asked.parameters.at("what")};
                      },
                  .whom = For::kThisHost,
                  .is_operation = true}});
  const auto port = server.start(kServerHost, 0);
  ASSERT_TRUE(port.ok());
  httplib::Client client(kServerHost, port.value());
  const httplib::Headers meant = {{kOperationHeader, "1"}};
  const auto post = [&](const httplib::Headers& headers) { return client.Post("/do?what=it", headers)->status; };
  EXPECT_EQ(post({}), 403) << "any page may make a browser send a form";
  EXPECT_EQ(post({{kOperationHeader, "1"}, {"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(post({{kOperationHeader, "1"}, {"Sec-Fetch-Site", "same-site"}}), 403) << "another port is another page";
  EXPECT_EQ(post({{kOperationHeader, "1"}, {"Sec-Fetch-Site", "none"}}), 403);
  EXPECT_EQ(post({{kOperationHeader, "1"}, {"Host", "rebound.example"}}), 403);
  EXPECT_EQ(client.Get("/do?what=it", meant)->status, 405) << "a link does nothing";
  EXPECT_EQ(client.Options("/do", meant)->status, 405) << "nobody else is allowed the header";
  EXPECT_EQ(client.Post("/do?what=it", meant, "x", "text/plain")->status, 413);
  EXPECT_EQ(client.Post("/a", meant)->status, 405);
  EXPECT_EQ(done, 0);
  const auto answer =
      client.Post("/do?what=it", httplib::Headers{{kOperationHeader, "1"}, {"Sec-Fetch-Site", "same-origin"}});
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "it");
  EXPECT_EQ(post(meant), 200) << "a program on this host";
  EXPECT_EQ(done, 2);
}

TEST(Server, TellsWhetherMoreIsWanted) {
  std::atomic<bool> verbose = false;
  Server server({{"/a", [&](const Question& asked) {
                    verbose = asked.verbose;
                    return Answer{};
                  }}});
  const auto port = server.start(kServerHost, 0);
  ASSERT_TRUE(port.ok());
  httplib::Client client(kServerHost, port.value());
  ASSERT_TRUE(client.Get("/a"));
  EXPECT_FALSE(verbose);
  ASSERT_TRUE(client.Get("/a?verbose"));
  EXPECT_TRUE(verbose);
}

TEST(Server, SaysThatAPortIsTaken) {
  Server first({});
  const auto port = first.start(kServerHost, 0);
  ASSERT_TRUE(port.ok());
  Server second({});
  const auto taken = second.start(kServerHost, port.value());
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().what_to_do, ErrorClass::kRetriable);
}

TEST(Server, StopsWithoutHavingBeenAskedAnything) {
  for (int i = 0; i < 20; ++i) {
    Server server({});
    ASSERT_TRUE(server.start(kServerHost, 0).ok());
  }
}

TEST(Server, BindsAgainWhereAnotherHasStopped) {
  auto first = std::make_unique<Server>(std::vector<Path>{});
  const auto port = first->start(kServerHost, 0);
  ASSERT_TRUE(port.ok());
  first.reset();
  Server second({});
  EXPECT_TRUE(second.start(kServerHost, port.value()).ok());
}

}  // namespace
}  // namespace reseq::http
