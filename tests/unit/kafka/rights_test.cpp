#include "kafka/rights.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string_view>

namespace reseq::kafka {
namespace {

using testing::HasSubstr;

// A time limit that no producer accepts stands for whatever keeps a client from being made.
TEST(Rights, ThatCannotBeAskedForSayWhy) {
  const Connection connection{.bootstrap_servers = "127.0.0.1:1",
                              .log = [](int, std::string_view, std::string_view) {}};
  const std::array<Right, 1> rights = {Right{Resource::kTopic, "work", Operation::kWrite}};
  const auto told = ask_rights(connection, rights, Milliseconds(-1));
  ASSERT_TRUE(told) << told.error().message;
  ASSERT_EQ(told.value().size(), 1U);
  EXPECT_EQ(told.value()[0].granted, Granted::kUnknown);
  EXPECT_THAT(told.value()[0].why, HasSubstr("message.timeout.ms"));
}

}  // namespace
}  // namespace reseq::kafka
