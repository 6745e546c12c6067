// Records of an output topic, made for a test.
// Thread rule: plain functions.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "consumers/remote/load.h"
#include "kafka/plain_record.h"

namespace reseq::remote {

struct RecordSpec {
  std::int64_t offset = 0;
  std::string id;
  std::string version;
  std::optional<std::string> payload = "text";
};

// Owns its bytes, as one that was consumed.
inline kafka::PlainRecord record_of(const RecordSpec& spec) {
  auto* bytes = new RecordSpec(spec);
  kafka::PlainRecord record;
  record.owner = {bytes, [](void* owned) { delete static_cast<RecordSpec*>(owned); }};
  record.topic = "shop.output.search";
  record.partition = Partition(3);
  record.offset = Offset(spec.offset);
  record.timestamp = UnixMs(1'700'000'000'000);
  record.key = bytes->id;
  if (bytes->payload) record.payload = *bytes->payload;
  if (!bytes->version.empty()) record.headers.push_back({"reseq-version", bytes->version});
  return record;
}

inline LoadBuilder builder_at(std::int64_t first, sink::Check check = sink::Check::kVersions) {
  return {Partition(3), Offset(first), check, "", Clock::now()};
}

}  // namespace reseq::remote
