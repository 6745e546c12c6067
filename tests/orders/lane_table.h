// LaneTable: ordered targets as their specification says them, in memory and as plain as it can be, beside one target
// that gets only the newest. Nothing of it comes from the engine but the words of model/.
//
// Invariant: a document and an order have one place at most in a lane.
// Thread rule: one thread.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "tests/orders/lane_words.h"

namespace reseq::orders {

enum class PlaceIs : std::uint8_t { kWaiting, kHeld, kEnded };

struct LanePlace {
  std::size_t document = 0;
  OrderNumber order = 0;
  PlaceIs is = PlaceIs::kWaiting;
  UnixMs dispatched_at;
  std::optional<std::size_t> input;  // of the running batch, whose result it has
};

// In the order in which its places leave.
struct LaneQueue {
  std::vector<LanePlace> places;
  std::optional<UnixMs> due;          // of its head, since a batch before
  bool behind_one_that_left = false;  // its head is
};

struct NewestOf {
  OrderNumber order = 0;
  enum class Is : std::uint8_t { kPending, kServed, kRemoved } is = Is::kPending;
};

struct DocumentLanes {
  bool known = false;
  std::optional<NewestOf> newest;
  std::optional<OrderNumber> served;  // the last release of the target without a lane
  std::optional<OrderNumber> barrier;
  std::optional<std::pair<OrderNumber, std::uint64_t>> requested;  // the newest, and the hash of its payload
  std::map<TargetNumber, OrderNumber> mark;                        // of ordered targets
};

class LaneTable : public Player {
 public:
  [[nodiscard]] Answer play(const Batch& batch) override;
  // Results that somebody waits for.
  [[nodiscard]] std::vector<Released> waiting() const;
  // Of a document for the target without a lane.
  [[nodiscard]] std::optional<OrderNumber> newest(std::size_t document) const;

 protected:
  // One rule each, so that a wrong lane can have another one.
  [[nodiscard]] virtual bool takes(const DocumentLanes& document, TargetNumber target, OrderNumber order) const;
  [[nodiscard]] virtual bool is_known(const LaneQueue& lane, std::size_t document, OrderNumber order) const;
  // Where a strict place stands in its lane.
  [[nodiscard]] virtual bool stands_before(const LanePlace& a, const LanePlace& b) const;
  [[nodiscard]] virtual bool is_head(const LaneQueue& lane, const LanePlace& place) const;
  [[nodiscard]] virtual bool may_skip(const Batch& batch) const { return batch.fenced; }
  [[nodiscard]] virtual UnixMs due_of(const LanePlace& head, bool behind_one_that_left, UnixMs now) const;
  [[nodiscard]] virtual bool skips_all_that_is_due() const { return true; }
  [[nodiscard]] virtual OrderNumber mark_behind(OrderNumber mark, const LanePlace& left) const;
  [[nodiscard]] virtual bool is_passed(const DocumentLanes& document, TargetNumber target, OrderNumber order) const;
  // Which order of the document a skip ends.
  [[nodiscard]] virtual OrderNumber skipped_by(const LaneQueue& lane, const Input& input) const;
  [[nodiscard]] virtual bool takes_a_reprocess() const { return false; }
  [[nodiscard]] virtual bool takes_again(const LanePlace& place) const;
  [[nodiscard]] virtual bool drains(const LaneQueue& lane) const;
  [[nodiscard]] virtual bool ends_in_place() const { return true; }  // what is unregistered does not leave at once

 private:
  Verdict request(const Input& input);
  Verdict result(const Input& input, std::size_t number);
  Verdict unregister(const Input& input);
  Verdict skip(const Input& input);
  Verdict expire(const Input& input);
  Verdict newest_result(const Input& input);
  [[nodiscard]] Verdict newest_unregister(const Input& input);
  [[nodiscard]] LaneQueue& lane(TargetNumber target, std::size_t document);
  [[nodiscard]] LanePlace* find(TargetNumber target, std::size_t document, OrderNumber order);
  void add(TargetNumber target, const Input& input);
  void end(TargetNumber target, std::size_t document, OrderNumber order);
  void leave(TargetNumber target, LaneQueue& lane, std::size_t at, bool by_gap);
  void release(TargetNumber target, LaneQueue& lane);
  void see_gaps(TargetNumber target, LaneQueue& lane);
  void drain(TargetNumber target, LaneQueue& lane);
  template <typename Visit>
  void each_lane(const Visit& visit);

  std::array<DocumentLanes, kDocuments> documents_;
  std::array<LaneQueue, kDocuments> strict_;
  LaneQueue total_;
  UnixMs now_;
  Answer answer_;
};

}  // namespace reseq::orders
