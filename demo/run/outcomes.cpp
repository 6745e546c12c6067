#include "demo/run/outcomes.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "demo/run/connection.h"
#include "kafka/admin.h"
#include "kafka/group_consumer.h"
#include "model/effects.h"

namespace reseq::demo {
namespace {

constexpr Milliseconds kEventsAskLimit{30'000};
constexpr Milliseconds kPoll{200};
constexpr std::chrono::seconds kReadLimit{60};

// Empty when it is missing or no text.
std::string text(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool reached(const std::vector<kafka::PlainOffset>& positions, const std::vector<kafka::PlainOffset>& ends) {
  return std::all_of(ends.begin(), ends.end(), [&](const kafka::PlainOffset& end) {
    return end.offset <= Offset(0) || std::any_of(positions.begin(), positions.end(), [&](const auto& position) {
             return position.partition == end.partition && position.offset >= end.offset;
           });
  });
}

}  // namespace

void count_event(std::string_view json, const std::string& requests_topic, Outcomes& outcomes) {
  const nlohmann::json event = nlohmann::json::parse(json, nullptr, false);
  if (!event.is_object()) {
    ++outcomes.unreadable;
    return;
  }
  if (text(event, "kind") == "lease_lost") {
    ++outcomes.leases_lost;
    return;
  }
  const std::string outcome = text(event, "outcome");
  const bool stopped = outcome == name_of(Outcome::kDropped) || outcome == name_of(Outcome::kDeadLettered) ||
                       outcome == name_of(Outcome::kRedirected) || outcome == name_of(Outcome::kStopped);
  if (!stopped) return;
  const auto source = event.find("source");
  // What is told later of a request that waited names the document alone.
  if (source == event.end() && event.contains("id") && !event.contains("target")) {
    ++outcomes.requests[text(event, "reason")];
    return;
  }
  const std::string topic = source != event.end() && source->is_object() ? text(*source, "topic") : std::string();
  if (topic.empty()) {
    ++outcomes.unreadable;
    return;
  }
  ++(topic == requests_topic ? outcomes.requests : outcomes.results[text(event, "target")])[text(event, "reason")];
}

Result<Outcomes> read_outcomes(const Settings& settings) {
  const kafka::Connection connection = connection_of(settings);
  const std::string topic = settings.topic("events");
  auto admin = kafka::Admin::open(connection);
  if (!admin) return admin.error();
  auto ends = admin.value()->stable_ends(topic, kEventsAskLimit);
  if (!ends) return ends.error();
  auto reader = kafka::GroupConsumer::open(connection);
  if (!reader) return reader.error();
  if (Result<> assigned = reader.value()->assign_all(topic, {}, kEventsAskLimit); !assigned) return assigned.error();

  Outcomes outcomes;
  const auto until = std::chrono::steady_clock::now() + kReadLimit;
  while (!reached(reader.value()->positions(), ends.value())) {
    if (std::chrono::steady_clock::now() > until)
      return Error{.what_to_do = ErrorClass::kTimeout, .message = "the end of " + topic + " was not reached"};
    auto record = reader.value()->poll(kPoll);
    if (!record) return record.error();
    if (record.value() && record.value()->payload)
      count_event(*record.value()->payload, settings.topic("requests"), outcomes);
  }
  return outcomes;
}

}  // namespace reseq::demo
