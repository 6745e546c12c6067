#include "tests/orders/wrong_lanes.h"

#include <algorithm>

namespace reseq::orders {
namespace {

class ReleasesOutOfOrder final : public LaneTable {
  [[nodiscard]] bool is_head(const LaneQueue&, const LanePlace&) const override { return true; }
};

class SortsByArrival final : public LaneTable {
  [[nodiscard]] bool stands_before(const LanePlace&, const LanePlace&) const override { return false; }
};

class TakesWhatIsOlder final : public LaneTable {
  [[nodiscard]] bool takes(const DocumentLanes&, TargetNumber, OrderNumber) const override { return true; }
};

class GivesASecondPlace final : public LaneTable {
  [[nodiscard]] bool is_known(const LaneQueue&, std::size_t, OrderNumber) const override { return false; }
  [[nodiscard]] bool takes(const DocumentLanes& document, TargetNumber target, OrderNumber order) const override {
    return target == kStrict ? LaneTable::takes(document, target, order) : true;
  }
};

class SkipsWithoutReadingOn final : public LaneTable {
  [[nodiscard]] bool may_skip(const Batch&) const override { return true; }
};

class NeverSkips final : public LaneTable {
  [[nodiscard]] bool may_skip(const Batch&) const override { return false; }
};

class WaitsForEachGap final : public LaneTable {
  [[nodiscard]] bool skips_all_that_is_due() const override { return false; }
};

class SkipsEarly final : public LaneTable {
  [[nodiscard]] UnixMs due_of(const LanePlace& head, bool behind, UnixMs now) const override {
    return UnixMs(LaneTable::due_of(head, behind, now).value() - kGapMs / 2);
  }
};

class HasNoPatience final : public LaneTable {
  [[nodiscard]] UnixMs due_of(const LanePlace& head, bool, UnixMs now) const override {
    return LaneTable::due_of(head, false, now);
  }
};

class ForgetsWhatHasLeft final : public LaneTable {
  [[nodiscard]] OrderNumber mark_behind(OrderNumber mark, const LanePlace&) const override { return mark; }
};

class CallsStaleWhatNobodyRequested final : public LaneTable {
  [[nodiscard]] bool is_passed(const DocumentLanes& document, TargetNumber, OrderNumber) const override {
    return document.known;
  }
};

class TakesAResultTwice final : public LaneTable {
  [[nodiscard]] bool takes_again(const LanePlace&) const override { return true; }
};

class LeavesResultsBehind final : public LaneTable {
  [[nodiscard]] bool drains(const LaneQueue&) const override { return false; }
};

class StopsAtWhatHasEnded final : public LaneTable {
  [[nodiscard]] bool drains(const LaneQueue& lane) const override {
    return LaneTable::drains(lane) && lane.places.front().is == PlaceIs::kHeld;
  }
};

class ForgetsWhatHasEnded final : public LaneTable {
  [[nodiscard]] bool ends_in_place() const override { return false; }
};

class SkipsWhatIsFirst final : public LaneTable {
  [[nodiscard]] OrderNumber skipped_by(const LaneQueue& lane, const Input& input) const override {
    std::optional<OrderNumber> first;
    for (const LanePlace& place : lane.places)
      if (place.document == input.document && place.is == PlaceIs::kWaiting && (!first || place.order < *first))
        first = place.order;
    return first.value_or(input.order);
  }
};

class TakesAReprocess final : public LaneTable {
  [[nodiscard]] bool takes_a_reprocess() const override { return true; }
};

template <typename Lane>
NamedWrongLane named(std::string_view name) {
  return {name, [] { return std::make_unique<Lane>(); }};
}

}  // namespace

const std::vector<NamedWrongLane>& wrong_lanes() {
  static const std::vector<NamedWrongLane> all = {
      named<ReleasesOutOfOrder>("releases out of order"),
      named<SortsByArrival>("has strict places in the order in which they came"),
      named<TakesWhatIsOlder>("takes what is older than its mark"),
      named<GivesASecondPlace>("gives a request that is sent again a second place"),
      named<SkipsWithoutReadingOn>("skips before inputs were read on"),
      named<NeverSkips>("waits for what was lost for ever"),
      named<WaitsForEachGap>("waits for each of several lost results"),
      named<SkipsEarly>("skips early"),
      named<HasNoPatience>("does not wait for a head whose time had passed before"),
      named<ForgetsWhatHasLeft>("forgets what has left"),
      named<CallsStaleWhatNobodyRequested>("calls stale what nobody requested"),
      named<TakesAResultTwice>("takes a result that is held once more"),
      named<LeavesResultsBehind>("leaves results behind"),
      named<StopsAtWhatHasEnded>("stops at what has ended"),
      named<SkipsWhatIsFirst>("skips what is first, whatever is named"),
      named<TakesAReprocess>("gives what is to be done once more a place"),
      named<ForgetsWhatHasEnded>("forgets what has ended before its turn"),
  };
  return all;
}

}  // namespace reseq::orders
