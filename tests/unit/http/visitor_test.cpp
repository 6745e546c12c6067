#include "http/visitor.h"

#include <gtest/gtest.h>

namespace reseq::http {
namespace {

bool lets_in(const Visitor& visitor) {
  return refusal_of(visitor).empty();
}

TEST(Visitor, ComesFromThisHost) {
  for (const char* address : {"127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"})
    EXPECT_TRUE(lets_in({.address = address, .host = "localhost"})) << address;
  for (const char* address :
       {"", "10.0.0.1", "172.17.0.1", "::", "fe80::1", "::ffff:10.0.0.1", "127.evil", "1127.0.0.1"})
    EXPECT_FALSE(lets_in({.address = address, .host = "localhost"})) << address;
}

TEST(Visitor, ComesFromTheGatewayWhereThatIsLetIn) {
  const Visitor published{.address = "172.18.0.1", .host = "localhost:9464"};
  EXPECT_TRUE(refusal_of(published, "172.18.0.1").empty());
  EXPECT_FALSE(refusal_of(published, "").empty());
  EXPECT_TRUE(refusal_of({.address = "::ffff:172.18.0.1", .host = "localhost"}, "172.18.0.1").empty());
  for (const char* neighbour : {"", "172.18.0.2", "172.18.0.11", "::"})
    EXPECT_FALSE(refusal_of({.address = neighbour, .host = "localhost"}, "172.18.0.1").empty()) << neighbour;
  EXPECT_FALSE(refusal_of({.address = "172.18.0.1", .host = "rebound.example"}, "172.18.0.1").empty());
}

TEST(Visitor, NamesThisHost) {
  for (const char* host : {"localhost", "LocalHost:9464", "127.0.0.1", "127.0.0.1:9464", "[::1]", "[::1]:9464"})
    EXPECT_TRUE(lets_in({.address = "127.0.0.1", .host = host})) << host;
  for (const char* host : {"", "rebound.example", "rebound.example:9464", "127.0.0.1.rebound.example",
                           "localhost.example", "10.0.0.1", "[::2]", "localhost:80:90", "::1"})
    EXPECT_FALSE(lets_in({.address = "127.0.0.1", .host = host})) << host;
}

TEST(Visitor, IsNotSentByAPageOfAnotherSite) {
  const Visitor own{.address = "::1", .host = "localhost", .fetch_site = "same-origin", .fetch_dest = "empty"};
  EXPECT_TRUE(lets_in(own));
  for (const char* site : {"cross-site", "same-site"}) {
    Visitor visitor = own;
    visitor.fetch_site = site;
    EXPECT_FALSE(lets_in(visitor)) << site;
    visitor.fetch_dest = "iframe";
    EXPECT_FALSE(lets_in(visitor)) << site;
    visitor.fetch_dest = "document";  // somebody has followed a link
    EXPECT_TRUE(lets_in(visitor)) << site;
  }
}

}  // namespace
}  // namespace reseq::http
