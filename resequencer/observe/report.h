// Report: what was observed and what follows from it, as JSON (schemas/shadow-report.schema.json) and as text for
// people. The file that the observer keeps writing is the JSON; everything else is made from it.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "kafka/cluster.h"
#include "observe/tally.h"
#include "observe/wrong_now.h"

namespace reseq::observe {

// Of a topic that is observed.
struct TopicSeen {
  std::string name;
  std::int32_t partitions = 0;
  std::int64_t left = 0;                   // offsets that are there and not read yet
  std::optional<kafka::TopicFacts> facts;  // none: the brokers do not tell this user (DescribeConfigs)
};

struct Seen {
  Tally tally;
  TopicSeen input;
  TopicSeen output;
  std::uint64_t waiting = 0;  // documents
  std::uint64_t answered = 0;
  std::uint64_t lost = 0;            // offsets that retention deleted before they were read
  std::optional<WrongCounts> wrong;  // when it has ended and was asked for them
  bool running = false;
  UnixMs began;    // the first start, of all that went on from it
  UnixMs written;  // now
};

// What should be done, and why. `level`: must = it cannot go live without; should; fine = it is as it has to be.
struct Advice {
  std::string level;
  std::string code;
  std::string setting;  // key of the configuration, or empty
  std::string value;
  std::string what;
  std::string why;
};
[[nodiscard]] std::vector<Advice> advice_for(const Seen& seen, const config::Settings& settings);

[[nodiscard]] Json report_json(const Seen& seen, const config::Settings& settings);
// REQUIRES: made by report_json; members that are missing are shown as a dash.
[[nodiscard]] std::string report_text(const Json& report);

// Of the report, for Prometheus: reseq_observed_...
[[nodiscard]] std::string observed_metrics(const Seen& seen);

}  // namespace reseq::observe
