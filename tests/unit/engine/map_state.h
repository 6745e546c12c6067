// MapState: the state of one partition in a map, and short ways to write commands. For tests of the engine.
// Thread rule: one thread.
#pragma once

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "engine/batch.h"

namespace reseq::engine {

class MapState : public StateView {
 public:
  [[nodiscard]] Lookup find(DocumentId id) const override {
    Lookup found;
    found.collision = collisions.contains(std::string(id));
    if (const auto place = rows.find(id); place != rows.end()) found.row = place->second;
    return found;
  }

  // Documents alone. REQUIRES: batch is closed.
  void commit(const Batch& batch) {
    for (const RowChange& change : batch.changes()) {
      if (change.row != nullptr) {
        rows.insert_or_assign(std::string(change.id), *change.row);
      } else {
        rows.erase(std::string(change.id));
      }
    }
    partition = batch.state();
  }

  std::map<std::string, Row, std::less<>> rows;
  std::set<std::string> collisions;
  PartitionState partition;
};

inline constexpr TargetNumber kSearch{0};
inline constexpr TargetNumber kCatalogue{1};
inline constexpr TargetNumber kLake{2};

inline TargetSet targets(std::initializer_list<TargetNumber> numbers) {
  TargetSet all;
  for (const TargetNumber t : numbers) all |= TargetSet::of(t);
  return all;
}

// A number as an order-preserving sequence.
inline Sequence sequence_of(std::uint64_t number) {
  return Sequence::of_number(number);
}

inline Order order_of(std::uint64_t number, std::uint64_t revision = 0, std::uint32_t epoch = 0) {
  return {Epoch(epoch), sequence_of(number), Revision(revision)};
}

inline Request request(DocumentId id, std::uint64_t number, std::optional<TargetSet> list = std::nullopt) {
  Request request;
  request.what.id = id;
  request.what.sequence = sequence_of(number);
  request.what.targets = list;
  return request;
}

inline Register registration(DocumentId id, std::uint64_t number, std::optional<TargetSet> list = std::nullopt) {
  return {request(id, number, list).what};
}

inline Unregister unregister(DocumentId id, std::uint64_t number, TargetSet list) {
  Unregister command;
  command.id = id;
  command.sequence = sequence_of(number);
  command.targets = list;
  return command;
}

inline SequenceResult result(DocumentId id, std::uint64_t number, TargetNumber t) {
  SequenceResult command;
  command.id = id;
  command.sequence = sequence_of(number);
  command.target = t;
  return command;
}

inline Context two_targets() {
  Context context;
  context.now = UnixMs(1000);
  context.all_targets = targets({kSearch, kCatalogue});
  context.default_targets = context.all_targets;
  return context;
}

}  // namespace reseq::engine
