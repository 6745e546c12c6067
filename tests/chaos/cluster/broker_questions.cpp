#include "tests/chaos/cluster/broker_questions.h"

#include <algorithm>

#include "tests/chaos/cluster/broker_call.h"

namespace reseq::chaos {

namespace {

std::vector<int> read_nodes(WireReader& reader) {
  std::vector<int> nodes;
  for (std::int32_t count = reader.i32(); count > 0 && reader.good(); --count) nodes.push_back(reader.i32());
  return nodes;
}

void read_topic(WireReader& reader, std::vector<PartitionFacts>& found) {
  (void)reader.i16();  // error
  const std::string topic = reader.text();
  (void)reader.i8();  // is internal
  for (std::int32_t count = reader.i32(); count > 0 && reader.good(); --count) {
    PartitionFacts facts{.topic = topic, .replicas = {}, .in_sync = {}};
    (void)reader.i16();  // error: no leader
    facts.partition = reader.i32();
    facts.leader = std::max(0, reader.i32());
    facts.replicas = read_nodes(reader);
    facts.in_sync = read_nodes(reader);
    found.push_back(std::move(facts));
  }
}

}  // namespace

std::optional<int> ask_coordinator(std::uint16_t port, Coordinates what, const std::string& key,
                                   std::chrono::milliseconds limit) {
  WireWriter body;
  body.text(key).i8(static_cast<std::int8_t>(what));
  const auto answer = call(port, Api::kFindCoordinator, 1, body, limit);
  if (!answer) return std::nullopt;
  WireReader reader(*answer);
  (void)reader.i32();  // throttle time
  const std::int16_t error = reader.i16();
  (void)reader.text();  // its words
  const std::int32_t node = reader.i32();
  if (!reader.good() || error != 0 || node <= 0) return std::nullopt;
  return node;
}

std::optional<std::vector<PartitionFacts>> ask_partitions(std::uint16_t port, std::chrono::milliseconds limit) {
  constexpr std::int32_t kAllTopics = -1;
  WireWriter body;
  body.i32(kAllTopics);
  const auto answer = call(port, Api::kMetadata, 1, body, limit);
  if (!answer) return std::nullopt;
  WireReader reader(*answer);
  for (std::int32_t count = reader.i32(); count > 0 && reader.good(); --count) {  // brokers
    (void)reader.i32();                                                           // node
    (void)reader.text();                                                          // host
    (void)reader.i32();                                                           // port
    (void)reader.text();                                                          // rack
  }
  (void)reader.i32();  // controller
  std::vector<PartitionFacts> found;
  for (std::int32_t count = reader.i32(); count > 0 && reader.good(); --count) read_topic(reader, found);
  if (!reader.good()) return std::nullopt;
  return found;
}

}  // namespace reseq::chaos
