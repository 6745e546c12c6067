#include "consumers/remote/forgetting.h"

#include <chrono>
#include <thread>

#include "kafka/admin.h"
#include "kafka/settings.h"

namespace reseq::remote {

namespace {

constexpr std::chrono::milliseconds kAskAgain{500};
constexpr int kTries = 3;

std::string seconds(Milliseconds time) {
  return std::to_string(time.value() / 1000) + " s";
}

}  // namespace

std::optional<Milliseconds> retention_of(const kafka::TopicFacts& topic) {
  if (!topic.deletes || topic.retention_ms < 0) return std::nullopt;
  if (topic.segment_ms > INT64_MAX - topic.retention_ms) return std::nullopt;
  return Milliseconds(topic.retention_ms + topic.segment_ms);
}

Result<std::optional<Milliseconds>> ask_retention(const kafka::Connection& connection, const std::string& topic,
                                                  const std::string& option) {
  auto admin = kafka::Admin::open(connection);
  if (!admin) return admin.error();
  Error why;
  for (int tries = 0; tries < kTries; ++tries) {
    auto facts = admin.value()->topic_facts(topic, kafka::kBrokerAnswerLimit);
    if (facts) return retention_of(facts.value());
    why = facts.error();
    if (why.what_to_do == ErrorClass::kInvalid || why.what_to_do == ErrorClass::kFatal) break;
    std::this_thread::sleep_for(kAskAgain);
  }
  why.message = "how long " + topic + " keeps records, which " + option + " has to be longer than: " + why.message;
  return why;
}

Result<> judge_forgetting(Milliseconds after, std::optional<Milliseconds> retention, const std::string& fix) {
  if (retention && after > *retention) return Done{};
  return Error{ErrorClass::kInvalid, 0,
               "deletes are to be forgotten after " + seconds(after) + ", but the output topic keeps records for " +
                   (retention ? seconds(*retention) + " (retention.ms and segment.ms)" : "ever") +
                   ": an older result that is still in the topic could bring a deleted document back. " + fix};
}

}  // namespace reseq::remote
