// DeadLetter: a record of the topic of dead letters, read for what it says.
// Thread rule: plain values, pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kafka/plain_record.h"

namespace reseq::demo {

struct DeadLetter {
  std::string id;
  std::uint64_t sequence = 0;
  std::string reason;
  std::string error;
  std::vector<std::string> targets;
  std::uint64_t attempts = 0;
  std::string source_topic;
  std::int64_t source_offset = -1;
};

[[nodiscard]] DeadLetter dead_letter_of(const kafka::PlainRecord& record);

}  // namespace reseq::demo
