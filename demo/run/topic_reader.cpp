#include "demo/run/topic_reader.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <vector>

#include "demo/run/connection.h"
#include "kafka/admin.h"
#include "kafka/group_consumer.h"

namespace reseq::demo {
namespace {

constexpr Milliseconds kTopicAskLimit{30'000};
constexpr Milliseconds kPoll{200};
constexpr std::chrono::seconds kReadLimit{60};

bool reached(const std::vector<kafka::PlainOffset>& positions, const std::vector<kafka::PlainOffset>& ends) {
  return std::all_of(ends.begin(), ends.end(), [&](const kafka::PlainOffset& end) {
    return end.offset <= Offset(0) || std::any_of(positions.begin(), positions.end(), [&](const auto& position) {
             return position.partition == end.partition && position.offset >= end.offset;
           });
  });
}

}  // namespace

Result<> read_topic(const Settings& settings, const std::string& topic,
                    const std::function<void(const kafka::PlainRecord&)>& take) {
  const kafka::Connection connection = connection_of(settings);
  auto admin = kafka::Admin::open(connection);
  if (!admin) return admin.error();
  auto ends = admin.value()->stable_ends(topic, kTopicAskLimit);
  if (!ends) return ends.error();
  auto reader = kafka::GroupConsumer::open(connection);
  if (!reader) return reader.error();
  if (Result<> assigned = reader.value()->assign_all(topic, {}, kTopicAskLimit); !assigned) return assigned.error();
  const auto until = std::chrono::steady_clock::now() + kReadLimit;
  while (!reached(reader.value()->positions(), ends.value())) {
    if (std::chrono::steady_clock::now() > until)
      return Error{.what_to_do = ErrorClass::kTimeout, .message = "the end of " + topic + " was not reached"};
    auto record = reader.value()->poll(kPoll);
    if (!record) return record.error();
    if (record.value()) take(*record.value());
  }
  return Done{};
}

std::string_view header_of(const kafka::PlainRecord& record, std::string_view name) {
  std::string_view value;
  for (const Header& header : record.headers)
    if (header.name == name) value = header.value.value_or(std::string_view());
  return value;
}

std::uint64_t number_of(std::string_view text, std::uint64_t otherwise) {
  std::from_chars(text.data(), text.data() + text.size(), otherwise);
  return otherwise;
}

std::uint64_t sequence_of(const kafka::PlainRecord& record) {
  return number_of(header_of(record, "reseq-seq"));
}

std::string key_of(const kafka::PlainRecord& record) {
  return std::string(record.key.value_or(std::string_view()));
}

}  // namespace reseq::demo
