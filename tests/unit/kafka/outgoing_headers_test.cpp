#include "kafka/outgoing_headers.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace reseq::kafka {
namespace {

using Listed = std::vector<std::pair<std::string, std::optional<std::string>>>;

Listed listed(const HeadersHandle& headers) {
  Listed all;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  if (headers == nullptr) return all;
  for (std::size_t i = 0; rd_kafka_header_get_all(headers.get(), i, &name, &value, &size) == 0; ++i) {
    std::optional<std::string> text;
    if (value != nullptr) text.emplace(static_cast<const char*>(value), size);
    all.emplace_back(name, std::move(text));
  }
  return all;
}

TEST(OutgoingHeaders, AreCopiedAndThenEdited) {
  const std::vector<Header> from = {{"a", "1"}, {"twice", "x"}, {"twice", std::nullopt}, {"gone", "y"}, {"empty", ""}};
  const std::vector<HeaderEdit> edits = {{"gone", std::nullopt}, {"a", "2"}, {"new", "3"}, {"not there", std::nullopt}};
  OutgoingRecord record;
  record.headers = from;
  record.edits = edits;
  OutgoingHeaders headers;
  const Listed expected = {{"twice", "x"}, {"twice", std::nullopt}, {"empty", ""}, {"a", "2"}, {"new", "3"}};
  EXPECT_EQ(listed(headers.take(record)), expected);
  EXPECT_EQ(listed(headers.take(record)), expected) << "a copy leaves them where they are";
}

TEST(OutgoingHeaders, AreNoneWhereThereIsNothingToSay) {
  OutgoingHeaders headers;
  EXPECT_EQ(headers.take(OutgoingRecord()), nullptr);
}

}  // namespace
}  // namespace reseq::kafka
