#include "demo/run/outcomes.h"

#include <nlohmann/json.hpp>

#include "demo/run/topic_reader.h"
#include "model/effects.h"

namespace reseq::demo {
namespace {

// Empty when it is missing or no text.
std::string text(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
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
  if (outcome == name_of(Outcome::kHeld)) ++outcomes.held[text(event, "target")];
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
  Outcomes outcomes;
  Result<> read = read_topic(settings, settings.topic("events"), [&](const kafka::PlainRecord& record) {
    if (record.payload) count_event(*record.payload, settings.topic("requests"), outcomes);
  });
  if (!read) return read.error();
  return outcomes;
}

}  // namespace reseq::demo
