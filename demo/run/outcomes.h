// Outcomes: what the resequencer stopped and why, counted from its events topic.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "demo/run/settings.h"

namespace reseq::demo {

struct Outcomes {
  std::map<std::string, std::uint64_t> requests;  // stopped, by reason
  // Stopped, by target and reason; the target is empty where the result named none that is known.
  std::map<std::string, std::map<std::string, std::uint64_t>> results;
  std::map<std::string, std::uint64_t> held;  // results that came before their turn, by target
  std::uint64_t leases_lost = 0;
  std::uint64_t unreadable = 0;  // events that are not what the schema says
};

// Adds one event (schemas/events.schema.json). Of inputs only those that were stopped or held count.
void count_event(std::string_view json, const std::string& requests_topic, Outcomes& outcomes);

// Reads the whole topic as it is now.
Result<Outcomes> read_outcomes(const Settings& settings);

}  // namespace reseq::demo
