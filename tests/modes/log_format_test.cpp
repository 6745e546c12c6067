// `log_format = "json"`: every line of a process is an object, also the error that ends it.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/shop/shop.h"

namespace reseq::test {
namespace {

constexpr const char* kJson = R"(
  log_level = "debug"
  log_format = "json"
  on_missing = "stop"
  [[target]]
  name = "search"
)";

TEST(LogFormat, IsAnObjectInEveryLineUpToTheLast) {
  Shop shop(kJson);
  shop.start();
  shop.request("a \"quoted\" \xff", "1");
  shop.settle();
  shop.send("commands", std::nullopt, "a result of nobody", {{"reseq-command", "sequence"}});
  EXPECT_NE(shop.wait_for_end(), 0);
  std::istringstream lines(shop.log());
  std::set<std::string> fields;
  nlohmann::json last;
  for (std::string line; std::getline(lines, line);) {
    last = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(last.is_object()) << line;
    ASSERT_TRUE(last.contains("time") && last.contains("level") && last.contains("message")) << line;
    if (last.contains("fields"))
      for (const auto& [name, value] : last.at("fields").items()) fields.insert(name);
  }
  EXPECT_TRUE(fields.contains("partition") && fields.contains("takeover"));
  EXPECT_EQ(last.at("level"), "critical");
  EXPECT_NE(last.at("message").get<std::string>().find("on_missing"), std::string::npos) << last;
}

}  // namespace
}  // namespace reseq::test
