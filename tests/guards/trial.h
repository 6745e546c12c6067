// Trial: a fault, played on an application of its own against the real broker, with all precautions or without some.
// All trials of the test program run at the same time, because they mostly wait for time-outs of Kafka.
// Thread rule: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reseq::test {

struct Fault {
  std::string_view name;
  // Guards whose absence lets the fault through, as in RESEQ_GUARD_OFF.
  std::string_view guards;
  // Plays it with processes that get `environment` as well. Returns what went wrong, or nothing. Throws when the fault
  // itself did not happen.
  std::string (*play)(const std::vector<std::string>& environment);
};

struct Outcome {
  std::string wrong;   // what went wrong, or nothing
  std::string failed;  // why the fault could not be played, or nothing
};

// The outcome of one fault, with these guards left out ("" = none). REQUIRES: one of faults().
[[nodiscard]] const Outcome& outcome_of(const Fault& fault, std::string_view guards_off);

[[nodiscard]] const std::vector<Fault>& faults();

}  // namespace reseq::test
