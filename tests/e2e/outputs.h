// Outputs: what a read_committed reader finds in an output topic, checked against what must be there.
// Thread rule: plain functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kafka/settings.h"
#include "tests/e2e/workload.h"

namespace reseq::test {

struct Released {
  std::string id;
  std::uint64_t sequence = 0;
  std::uint64_t version = 0;
  bool removal = false;
  std::string payload;
  std::int32_t partition = 0;
};

// All visible records of the topic, in the order of each partition.
std::vector<Released> read_outputs(const kafka::Connection& connection, const std::string& topic);

// One line per violation, at most `most`:
//   an id whose last release is not the expected one, or that is missing, or that nobody asked for
//   a sequence of an id that was released twice, or below one released before
//   a version that does not rise within its partition
//   a payload that is not that of its request
std::vector<std::string> violations(const std::vector<Released>& outputs, const std::map<std::string, Expected>& end,
                                    std::size_t most = 10);

}  // namespace reseq::test
