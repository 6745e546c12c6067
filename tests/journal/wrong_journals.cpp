#include "tests/journal/wrong_journals.h"

#include <algorithm>

namespace reseq::journal {
namespace {

struct WithoutPriorities final : JobTable {
  using JobTable::JobTable;
  bool goes_before(const Waiting& a, const Waiting& b) const override {
    return std::pair(due_date(a), a.number) < std::pair(due_date(b), b.number);
  }
};

struct ByArrival final : JobTable {
  using JobTable::JobTable;
  bool goes_before(const Waiting& a, const Waiting& b) const override {
    return std::pair(a.urgency.priority, a.number) < std::pair(b.urgency.priority, b.number);
  }
};

struct StuckFirst final : JobTable {
  using JobTable::JobTable;
  bool goes_before(const Waiting& a, const Waiting& b) const override {
    if (is_stuck(a) != is_stuck(b)) return is_stuck(a);
    return JobTable::goes_before(a, b);
  }
};

// Another merge, of the dates that the right one gives.
template <Urgency (*kMerge)(Urgency right, const Urgency& older, const Urgency& newer)>
struct Merging final : JobTable {
  using JobTable::JobTable;
  Urgency merged(const Urgency& older, const Urgency& newer) const override {
    return kMerge(JobTable::merged(older, newer), older, newer);
  }
};

Urgency largest_priority(Urgency right, const Urgency& older, const Urgency& newer) {
  right.priority = std::max(older.priority, newer.priority);
  return right;
}
Urgency smallest_date(Urgency right, const Urgency& older, const Urgency& newer) {
  right.process_at = std::max(std::min(older.process_at, newer.process_at), right.inserted);
  return right;
}
Urgency unbounded_date(Urgency right, const Urgency& older, const Urgency& newer) {
  right.process_at = std::max(older.process_at, newer.process_at);
  return right;
}
Urgency new_insertion(Urgency right, const Urgency& /*older*/, const Urgency& newer) {
  right.inserted = newer.inserted;
  return right;
}
Urgency smallest_expiration(Urgency right, const Urgency& older, const Urgency& newer) {
  right.expires_at = std::min(older.expires_at, newer.expires_at);
  return right;
}
Urgency newest_alone(Urgency /*right*/, const Urgency& /*older*/, const Urgency& newer) {
  return newer;
}

struct NeverExpires final : JobTable {
  using JobTable::JobTable;
  bool is_expired(const Waiting&) const override { return false; }
};

struct Hasty final : JobTable {
  using JobTable::JobTable;
  bool is_due(const Waiting&) const override { return true; }
};

struct WithoutConsolidation final : JobTable {
  using JobTable::JobTable;
  bool is_due(const Waiting& entry) const override {
    return std::max(entry.urgency.process_at, entry.retry_at) <= now();
  }
};

struct Crowded final : JobTable {
  using JobTable::JobTable;
  bool has_room(const DocumentJob&) const override { return documents_under_way() <= rules().in_flight_max; }
};

struct Unblocked final : JobTable {
  using JobTable::JobTable;
  bool is_blocked(const DocumentJob&, const Waiting&) const override { return false; }
};

struct BlockedByAll final : JobTable {
  using JobTable::JobTable;
  bool is_blocked(const DocumentJob& document, const Waiting&) const override {
    return rules().one_at_a_time && !document.under_way.empty();
  }
};

struct NeverIdle final : JobTable {
  using JobTable::JobTable;
  bool may_idle(const Waiting&) const override { return true; }
};

struct LosesNothing final : JobTable {
  using JobTable::JobTable;
  bool is_lost(const UnderWay&) const override { return false; }
};

struct CountsEveryLoss final : JobTable {
  using JobTable::JobTable;
  bool counts_loss(const UnderWay&) const override { return true; }
};

struct CountsNoLoss final : JobTable {
  using JobTable::JobTable;
  bool counts_loss(const UnderWay&) const override { return false; }
};

struct MeasuresNothing final : JobTable {
  using JobTable::JobTable;
  std::int64_t consolidate_ms() const override { return rules().consolidate_ms; }
};

struct ConsolidatesAsTheLast final : JobTable {
  using JobTable::JobTable;
  std::int64_t consolidate_ms() const override {
    if (!rules().consolidate_measured || release_ms().empty()) return JobTable::consolidate_ms();
    return release_ms().back();
  }
};

struct WithoutBackOff final : JobTable {
  using JobTable::JobTable;
  UnixMs back_off(const Waiting&) const override { return UnixMs(); }
};

struct SameAttempt final : JobTable {
  using JobTable::JobTable;
  std::uint32_t next_attempt(const DocumentJob&, const Waiting&) const override { return 1; }
};

struct DeafToHeartbeats final : JobTable {
  using JobTable::JobTable;
  void renew(UnderWay&, UnixMs) const override {}
};

struct TrustsClocks final : JobTable {
  using JobTable::JobTable;
  void renew(UnderWay& dispatch, UnixMs timestamp) const override {
    dispatch.lease_until = UnixMs(timestamp.value() + rules().lease_ms);
  }
};

struct SupersedesWaiting final : JobTable {
  using JobTable::JobTable;
  void begin_to_wait(DocumentJob& document, const Waiting& entry) override {
    move_to(document, entry.order, entry.targets, 1);
  }
};

// Another rule of what an operator moves.
template <void (*kChange)(Waiting& right, const Waiting& before)>
struct Hurrying final : JobTable {
  using JobTable::JobTable;
  void hurry(Waiting& entry) const override {
    const Waiting before = entry;
    JobTable::hurry(entry);
    kChange(entry, before);
  }
};

void keep_priority(Waiting& right, const Waiting& before) {
  right.urgency.priority = before.urgency.priority;
}
void keep_date(Waiting& right, const Waiting& before) {
  right.urgency.process_at = before.urgency.process_at;
}
void keep_consolidation(Waiting& right, const Waiting& before) {
  right.urgency.consolidate_until = before.urgency.consolidate_until;
}
void keep_back_off(Waiting& right, const Waiting& before) {
  right.retry_at = before.retry_at;
}
void keep_losses(Waiting& right, const Waiting& before) {
  right.losses = before.losses;
}

// Nobody else has that priority and that date.
bool is_hurried(const Waiting& entry) {
  return entry.urgency.priority == 0 && entry.urgency.process_at == entry.urgency.inserted;
}

struct HurriedPastOlder final : JobTable {
  using JobTable::JobTable;
  bool is_blocked(const DocumentJob& document, const Waiting& entry) const override {
    return !is_hurried(entry) && JobTable::is_blocked(document, entry);
  }
};

struct HurriedWithoutRoom final : JobTable {
  using JobTable::JobTable;
  bool has_room(const DocumentJob& document) const override {
    return JobTable::has_room(document) || std::any_of(document.waiting.begin(), document.waiting.end(), is_hurried);
  }
};

struct DeletesByCommandStopNothing final : JobTable {
  using JobTable::JobTable;
  bool stops_by_command() const override { return false; }
};

struct PostponesNothing final : JobTable {
  using JobTable::JobTable;
  void postpone(Waiting&, UnixMs) const override {}
};

struct PostponesToEarlier final : JobTable {
  using JobTable::JobTable;
  void postpone(Waiting& entry, UnixMs until) const override {
    entry.urgency.process_at = std::max(until, entry.urgency.inserted);
  }
};

struct PostponesForEver final : JobTable {
  using JobTable::JobTable;
  bool may_postpone(UnixMs) const override { return true; }
};

struct CountsEveryFail final : JobTable {
  using JobTable::JobTable;
  bool is_about(const Input& input, const UnderWay& dispatch) const override { return dispatch.order == input.order; }
};

struct TriesOnceMore final : JobTable {
  using JobTable::JobTable;
  bool is_for_good(const Input& input, const Failures& before, std::uint32_t repeats) const override {
    const bool right = JobTable::is_for_good(input, before, repeats);
    return right && !(before.retries == rules().retries_max && input.failure == FailureKind::kTransient);
  }
};

struct NeverGivesUp final : JobTable {
  using JobTable::JobTable;
  bool is_for_good(const Input& input, const Failures& /*before*/, std::uint32_t /*repeats*/) const override {
    return input.scope == FailureScope::kDocument && input.failure == FailureKind::kPermanent;
  }
};

struct TakesAllForPermanent final : JobTable {
  using JobTable::JobTable;
  bool is_for_good(const Input& input, const Failures& before, std::uint32_t repeats) const override {
    return input.failure == FailureKind::kPermanent || JobTable::is_for_good(input, before, repeats);
  }
};

struct ForgetsRepeats final : JobTable {
  using JobTable::JobTable;
  bool is_for_good(const Input& input, const Failures& before, std::uint32_t /*repeats*/) const override {
    return JobTable::is_for_good(input, before, 0);
  }
};

struct RetriesAtOnce final : JobTable {
  using JobTable::JobTable;
  UnixMs retry_date() const override { return now(); }
};

struct OneDocumentOpens final : JobTable {
  using JobTable::JobTable;
  std::size_t breaker_documents() const override { return std::min<std::size_t>(JobTable::breaker_documents(), 1); }
};

struct NeverOpens final : JobTable {
  using JobTable::JobTable;
  std::size_t breaker_documents() const override { return 0; }
};

struct ClosedByLateResults final : JobTable {
  using JobTable::JobTable;
  bool closes(const Breaker&, std::uint64_t) const override { return true; }
};

struct NeverClosed final : JobTable {
  using JobTable::JobTable;
  bool closes(const Breaker&, std::uint64_t) const override { return false; }
};

struct CostsRetries final : JobTable {
  using JobTable::JobTable;
  bool waits_for_target(const Input&, const Breaker&, std::uint64_t) const override { return false; }
};

struct BelievesNoDocument final : JobTable {
  using JobTable::JobTable;
  bool waits_for_target(const Input& input, const Breaker& breaker, std::uint64_t dispatch) const override {
    return JobTable::waits_for_target(input, breaker, dispatch) || input.failure != FailureKind::kPermanent;
  }
};

struct SamePause final : JobTable {
  using JobTable::JobTable;
  std::int64_t longer(std::int64_t pause_ms) const override { return pause_ms; }
};

struct TriesNobody final : JobTable {
  using JobTable::JobTable;
  TargetSet blocked() const override { return down(); }
};

struct TriesAll final : JobTable {
  using JobTable::JobTable;
  TargetSet blocked() const override { return {}; }
};

struct HoldsUpOthers final : JobTable {
  using JobTable::JobTable;
  TargetSet stays(const Waiting& entry) const override {
    return JobTable::stays(entry).empty() ? TargetSet() : entry.targets;
  }
};

struct StopsWhatIsUnderWay final : JobTable {
  using JobTable::JobTable;
  TargetSet goes_on(TargetSet leaving, TargetSet behind) const override { return leaving | behind; }
};

struct InheritsWhatever final : JobTable {
  using JobTable::JobTable;
  bool is_same(const DocumentJob& document, const Input&) const override { return document.newest_request.has_value(); }
};

struct ForgetsWhatTimedOut final : JobTable {
  using JobTable::JobTable;
  bool is_failed(const Waiting& entry) const override { return entry.given_up; }
};

struct InheritsNothing final : JobTable {
  using JobTable::JobTable;
  bool is_same(const DocumentJob&, const Input&) const override { return false; }
};

struct DoesItTwice final : JobTable {
  using JobTable::JobTable;
  bool may_have_been_done(const Input&, TargetNumber) const override { return false; }
};

struct DoesItTwiceWithoutAWord final : JobTable {
  using JobTable::JobTable;
  TargetSet gives_up_lost(const UnderWay&) const override { return {}; }
};

template <typename Table>
std::unique_ptr<Player> make(const Rules& rules) {
  return std::make_unique<Table>(rules);
}

}  // namespace

namespace {

struct SkipsWhatIsUnderWay final : JobTable {
  using JobTable::JobTable;
  bool has_it(const DocumentJob& document, TargetNumber target) const override {
    const auto job = document.targets.find(target);
    return job != document.targets.end() && job->second.newest == document.newest_request->first;
  }
};

template <bool kSame>
struct Comparing final : JobTable {
  using JobTable::JobTable;
  bool asks_for_the_same(const DocumentJob&, const Input&) const override { return kSame; }
};

std::vector<NamedWrongJournal> about_requests() {
  return {
      {"does not look at priorities", make<WithoutPriorities>},
      {"does not look at process dates in a priority", make<ByArrival>},
      {"dispatches what is stuck first", make<StuckFirst>},
      {"keeps the largest priority", make<Merging<largest_priority>>},
      {"keeps the smallest process date", make<Merging<smallest_date>>},
      {"lets newer requests move the process date for ever", make<Merging<unbounded_date>>},
      {"takes the insertion date of the newer one", make<Merging<new_insertion>>},
      {"keeps the smallest expiration", make<Merging<smallest_expiration>>},
      {"does not merge", make<Merging<newest_alone>>},
      {"dispatches what has expired", make<NeverExpires>},
      {"dispatches before the date", make<Hasty>},
      {"does not consolidate", make<WithoutConsolidation>},
      {"consolidates nothing by what it measured", make<MeasuresNothing>},
      {"consolidates as long as the last release took", make<ConsolidatesAsTheLast>},
      {"has one document too many under way", make<Crowded>},
      {"dispatches what is blocked", make<Unblocked>},
      {"is blocked by what is not older", make<BlockedByAll>},
      {"lets idle work go beside urgent work", make<NeverIdle>},
      {"never loses a lease", make<LosesNothing>},
      {"counts a lost lease while nobody works", make<CountsEveryLoss>},
      {"counts no lost lease", make<CountsNoLoss>},
      {"tries again at once", make<WithoutBackOff>},
      {"never raises the attempt", make<SameAttempt>},
      {"does not hear heartbeats", make<DeafToHeartbeats>},
      {"believes heartbeats from the future and the past", make<TrustsClocks>},
      {"lets waiting supersede what was dispatched", make<SupersedesWaiting>},
      {"keeps the priority of what is to go now", make<Hurrying<keep_priority>>},
      {"keeps the date of what is to go now", make<Hurrying<keep_date>>},
      {"consolidates what is to go now", make<Hurrying<keep_consolidation>>},
      {"lets what is to go now stay behind all others", make<Hurrying<keep_losses>>},
      {"lets what is to go now back off", make<Hurrying<keep_back_off>>},
      {"lets what is to go now pass an older order", make<HurriedPastOlder>},
      {"has one too many under way for what is to go now", make<HurriedWithoutRoom>},
      {"lets what waits pass a delete that a command registered", make<DeletesByCommandStopNothing>},
      {"postpones nothing", make<PostponesNothing>},
      {"postpones to an earlier date", make<PostponesToEarlier>},
      {"postpones for as long as is said", make<PostponesForEver>},
      {"skips what its targets still wait for", make<SkipsWhatIsUnderWay>},
      {"skips whatever comes behind a release", make<Comparing<true>>},
      {"does again what its targets have", make<Comparing<false>>},
  };
}

std::vector<NamedWrongJournal> about_failures() {
  return {
      {"counts a failure of another attempt", make<CountsEveryFail>},
      {"tries once more than it may", make<TriesOnceMore>},
      {"never gives up what may work later", make<NeverGivesUp>},
      {"takes what all need for the fault of a document", make<TakesAllForPermanent>},
      {"does not see that an error repeats", make<ForgetsRepeats>},
      {"tries again before the back off is over", make<RetriesAtOnce>},
      {"does again what may have been done", make<DoesItTwice>},
      {"does again what nobody said a word of", make<DoesItTwiceWithoutAWord>},
      {"takes one document for all", make<OneDocumentOpens>},
      {"does not see that a target is down", make<NeverOpens>},
      {"takes a late result for a target that is there again", make<ClosedByLateResults>},
      {"never sees that a target is there again", make<NeverClosed>},
      {"lets a target that is down cost retries", make<CostsRetries>},
      {"takes the fault of a document that tried for that of its target", make<BelievesNoDocument>},
      {"tries a target as often however long it is down", make<SamePause>},
      {"tries no target that is down", make<TriesNobody>},
      {"goes on with a target that is down", make<TriesAll>},
      {"holds up a target for another one that is down", make<HoldsUpOthers>},
      {"gives up content that nobody has tried", make<InheritsWhatever>},
      {"tries the content that failed again", make<InheritsNothing>},
      {"forgets what lost too many leases", make<ForgetsWhatTimedOut>},
      {"lets what stays behind supersede what is under way", make<StopsWhatIsUnderWay>},
  };
}

}  // namespace

const std::vector<NamedWrongJournal>& wrong_journals() {
  static const std::vector<NamedWrongJournal> all = [] {
    std::vector<NamedWrongJournal> both = about_requests();
    for (const NamedWrongJournal& one : about_failures()) both.push_back(one);
    return both;
  }();
  return all;
}

}  // namespace reseq::journal
