// JobTable: the journal as its specification says it, in memory and as plain as it can be. Nothing of it comes from
// the engine but the words of model/. It is asked batch by batch and answers what becomes of each input and what is
// dispatched, in which order.
//
// Where the specification leaves something open, the smallest sensible rule is taken; each stands as a comment that
// begins with "Open:" at the place where it is used.
//
// Invariants: a target of a document is in one entry that waits at most, and in one dispatch that is under way at most.
// Thread rule: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "model/journal.h"
#include "tests/journal/job.h"

namespace reseq::journal {

// An order that is to be dispatched.
struct Waiting {
  OrderNumber order = 0;
  bool deletes_all = false;
  TargetSet targets;         // still to be dispatched
  std::uint64_t number = 0;  // when it began to wait
  Urgency urgency;
  std::uint32_t attempt = 0;    // of its last dispatch, 0 = there was none
  std::uint32_t timeouts = 0;   // leases lost while others ended
  std::uint32_t losses = 0;     // leases lost while nobody did
  UnixMs retry_at;              // of one that came back: its back-off
  bool given_up = false;        // it failed for good,
  bool effect_unknown = false;  // and nobody knows what was done
  TargetSet took_over;  // of its targets, those that are still pending at an older order whose entry it took over
  std::optional<std::size_t> input;  // of the running batch, whose data it has
  bool came_back = false;            // in the running batch
};

// A dispatch that has not ended.
struct UnderWay {
  OrderNumber order = 0;
  TargetSet targets;  // that are still pending
  std::uint64_t number = 0;
  std::uint32_t attempt = 0;
  UnixMs lease_until;
  UnixMs dispatched_at;
  Urgency urgency;
  std::uint32_t timeouts = 0;
  std::uint32_t losses = 0;
};

enum class TargetState : std::uint8_t { kPending, kServed, kRemoved };

// A target at the newest order that was dispatched or registered for it.
// What workers said of a target at its newest order.
struct Failures {
  std::uint32_t retries = 0;
  std::uint32_t repeats = 0;          // of an unknown error, in a row
  std::optional<std::uint8_t> error;  // the last one
  bool exhausted = false;             // given up because its retries were used up
};

struct TargetJob {
  OrderNumber newest = 0;
  TargetState state = TargetState::kPending;
  std::uint32_t attempt = 0;  // of the dispatch that carried it last, 0 = a command registered it
  std::optional<OrderNumber> last_release;
  Failures failures;
  bool failed = false;          // removed because of them,
  bool effect_unknown = false;  // of those that must not be done twice
};

// What is known of a target that cannot be reached.
struct Breaker {
  std::set<std::size_t> counted;  // documents that failed because of it, since its last release
  bool open = false;
  bool until_resume = false;  // nothing is tried before an operator says so
  std::uint64_t changed = 0;  // number of the last dispatch before that, or of the one that closed it
  std::uint64_t probe = 0;    // of the one that is tried, 0 = none is
  UnixMs probe_at;            // the next one not before
  std::int64_t pause_ms = 0;
};

struct DocumentJob {
  // What commands see.
  std::map<TargetNumber, TargetJob> targets;
  std::optional<OrderNumber> barrier;

  std::set<OrderNumber> dispatched;  // of those at which something is known

  std::vector<Waiting> waiting;
  std::vector<UnderWay> under_way;
  UnixMs lease_before;  // the earliest before the running batch

  // What requests see beside it: all that were accepted, whatever became of them.
  std::map<TargetNumber, OrderNumber> accepted;
  std::optional<OrderNumber> accepted_barrier;
  std::set<OrderNumber> requested;
  std::optional<std::pair<OrderNumber, std::uint64_t>> newest_request;  // and the hash of its payload
};

class JobTable : public Player {
 public:
  explicit JobTable(const Rules& rules) : rules_(rules) {}

  [[nodiscard]] Answer play(const Batch& batch) override;

  [[nodiscard]] std::vector<Pending> pending() const override;
  [[nodiscard]] const DocumentJob& document(std::size_t number) const { return documents_[number]; }

 protected:
  // One rule each, so that a wrong journal can have another one.
  [[nodiscard]] virtual Urgency wish_of(const Input& input) const;
  [[nodiscard]] virtual Urgency merged(const Urgency& older, const Urgency& newer) const;
  [[nodiscard]] virtual bool goes_before(const Waiting& a, const Waiting& b) const;
  [[nodiscard]] virtual bool is_blocked(const DocumentJob& document, const Waiting& entry) const;
  [[nodiscard]] virtual bool may_idle(const Waiting& entry) const;
  [[nodiscard]] virtual bool has_room(const DocumentJob& document) const;
  [[nodiscard]] virtual bool is_due(const Waiting& entry) const;
  [[nodiscard]] virtual bool is_expired(const Waiting& entry) const;
  [[nodiscard]] virtual bool is_lost(const UnderWay& dispatch) const;
  // What is pending and goes with an entry that nobody wants any more, of these of its targets.
  [[nodiscard]] virtual TargetSet goes_with(const DocumentJob& document, const Waiting& entry, TargetSet targets) const;
  // What an operator changes of an entry that waits.
  virtual void hurry(Waiting& entry) const;
  virtual void postpone(Waiting& entry, UnixMs until) const;
  [[nodiscard]] virtual bool may_postpone(UnixMs until) const;
  [[nodiscard]] virtual bool narrows(const Waiting& entry) const;
  [[nodiscard]] virtual bool fails(const Waiting& entry) const;
  // What was given up is failed, not only removed: whoever asks once more asks for it, too.
  [[nodiscard]] virtual bool is_failed(const Waiting& /*entry*/) const { return true; }
  [[nodiscard]] virtual bool wants_attempt(std::uint32_t last) const;
  // Of the dispatch that carried a pending target last.
  [[nodiscard]] virtual std::uint32_t last_attempt(const DocumentJob& document, TargetNumber target) const;
  [[nodiscard]] virtual bool counts_loss(const UnderWay& dispatch) const;
  [[nodiscard]] virtual UnixMs back_off(const Waiting& entry) const;
  [[nodiscard]] virtual std::uint32_t next_attempt(const DocumentJob& document, const Waiting& entry) const;
  // A delete for all that a command registers stops what is older, results and what waits.
  [[nodiscard]] virtual bool stops_by_command() const { return true; }
  // The newest request brought this target what it asked for.
  [[nodiscard]] virtual bool has_it(const DocumentJob& document, TargetNumber target) const;
  [[nodiscard]] virtual bool asks_for_the_same(const DocumentJob& document, const Input& input) const;
  // What failed is not tried again.
  [[nodiscard]] virtual bool is_for_good(const Input& input, const Failures& before, std::uint32_t repeats) const;
  // Nobody knows whether it was done, and it must not be done twice.
  [[nodiscard]] virtual bool may_have_been_done(const Input& input, TargetNumber target) const;
  // Of what lost its lease, what must not be done twice.
  [[nodiscard]] virtual TargetSet gives_up_lost(const UnderWay& lost) const { return lost.targets & rules_.potent; }
  // The dispatch that a failure is about.
  [[nodiscard]] virtual bool is_about(const Input& input, const UnderWay& dispatch) const;
  [[nodiscard]] virtual UnixMs retry_date() const { return UnixMs(now_.value() + rules_.backoff_ms); }
  // Of a breaker, before a failure is counted: how many documents open it.
  [[nodiscard]] virtual std::size_t breaker_documents() const { return rules_.breaker_documents; }
  // A result of this dispatch shows that the target is there again.
  [[nodiscard]] virtual bool closes(const Breaker& breaker, std::uint64_t dispatch) const;
  // What failed waits for its target, and that is no retry. REQUIRES: the breaker is open.
  [[nodiscard]] virtual bool waits_for_target(const Input& input, const Breaker& breaker, std::uint64_t dispatch) const;
  // Before the next one is tried.
  [[nodiscard]] virtual std::int64_t longer(std::int64_t pause_ms) const;
  // Those whose breakers are open.
  [[nodiscard]] TargetSet down() const;
  // Those of them that nothing is dispatched for now.
  [[nodiscard]] virtual TargetSet blocked() const;
  // Of an entry, what stays behind when the others leave.
  [[nodiscard]] virtual TargetSet stays(const Waiting& entry) const;
  // What is pending at its order from now on.
  [[nodiscard]] virtual TargetSet goes_on(TargetSet leaving, TargetSet /*behind*/) const { return leaving; }
  // It is the content that failed before.
  [[nodiscard]] virtual bool is_same(const DocumentJob& document, const Input& input) const;
  virtual void renew(UnderWay& dispatch, UnixMs timestamp) const;
  // So long something waits for newer requests.
  [[nodiscard]] virtual std::int64_t consolidate_ms() const;
  [[nodiscard]] UnixMs consolidated(UnixMs inserted) const;
  [[nodiscard]] const std::vector<std::int64_t>& release_ms() const { return release_ms_; }
  // An entry has begun to wait: that changes nothing of what was dispatched.
  virtual void begin_to_wait(DocumentJob& /*document*/, const Waiting& /*entry*/) {}

  [[nodiscard]] const Rules& rules() const { return rules_; }
  [[nodiscard]] UnixMs now() const { return now_; }
  [[nodiscard]] bool is_stuck(const Waiting& entry) const { return entry.losses > rules_.timeouts_max; }
  [[nodiscard]] virtual UnixMs due_date(const Waiting& entry) const;
  [[nodiscard]] std::size_t documents_under_way() const;

  // Of what was dispatched or registered.
  [[nodiscard]] static TargetSet pending_at(const DocumentJob& document, OrderNumber order);
  void move_to(DocumentJob& document, OrderNumber order, TargetSet targets, std::uint32_t attempt);

 private:
  struct Place {
    std::size_t document = 0;
    std::size_t entry = 0;
  };

  // Inputs (job_table.cpp).
  [[nodiscard]] Verdict decide(const Input& input);
  [[nodiscard]] Verdict request(DocumentJob& document, const Input& input);
  [[nodiscard]] Verdict not_new(DocumentJob& document, const Input& input, TargetSet newer);
  // Of a target that failed for good at its newest order, its letter written or still to be; none: it did not.
  [[nodiscard]] static std::optional<bool> effect_unknown(const DocumentJob& document, TargetNumber target);
  [[nodiscard]] bool inherits(const DocumentJob& document, const Input& input, TargetSet targets) const;
  [[nodiscard]] Verdict fail_at_once(DocumentJob& document, const Input& input, TargetSet targets);
  [[nodiscard]] bool is_unchanged(const DocumentJob& document, const Input& input, TargetSet wanted) const;
  [[nodiscard]] Verdict keep(DocumentJob& document, const Input& input, TargetSet wanted);
  [[nodiscard]] Verdict accept(DocumentJob& document, const Input& input, TargetSet moved, TargetSet late);
  [[nodiscard]] Verdict register_order(DocumentJob& document, const Input& input);
  [[nodiscard]] Verdict result(DocumentJob& document, const Input& input);
  [[nodiscard]] Verdict unregister(DocumentJob& document, const Input& input);
  [[nodiscard]] Verdict heartbeat(DocumentJob& document, const Input& input);
  [[nodiscard]] Verdict expire(DocumentJob& document, const Input& input);
  [[nodiscard]] Verdict move(DocumentJob& document, const Input& input) const;
  [[nodiscard]] bool is_too_far(const Input& input) const;
  static void raise_barrier(DocumentJob& document, OrderNumber order);
  void take_over(DocumentJob& document, Waiting& entry, TargetSet targets);
  void drop(DocumentJob& document, OrderNumber order, TargetSet targets);
  void settle(DocumentJob& document, bool by_command, std::optional<OrderNumber> released = std::nullopt);
  // What an entry has lost of its targets; the outcome of its request when that is all, if it is of this batch.
  void narrow(const DocumentJob& document, Waiting& entry);

  // What failed (job_table_failures.cpp).
  [[nodiscard]] Verdict fail(DocumentJob& document, const Input& input);
  struct Failed {
    TargetSet retried;
    TargetSet for_good;
    TargetSet effect_unknown;
    UnixMs retry_at;
  };
  void fail_target(DocumentJob& document, const Input& input, TargetNumber target, Failed& failed);
  void fail(DocumentJob& document, const Input& input, TargetSet targets);
  void try_again(DocumentJob& document, const UnderWay& failed, TargetSet targets, UnixMs retry_at);
  void give_up(DocumentJob& document, const UnderWay& failed, TargetSet targets, bool effect_unknown);

  // Targets that cannot be reached (job_table_breakers.cpp).
  // F3, then with the date of its next attempt.
  [[nodiscard]] bool meets_breaker(const Input& input, TargetNumber target, std::uint64_t dispatch, Failed& failed);
  void note_release(const DocumentJob& document, const Input& input);
  [[nodiscard]] Verdict resume(const Input& input);
  void note_probe(TargetSet targets, std::uint64_t dispatch);
  static void close(Breaker& breaker, std::uint64_t behind);
  [[nodiscard]] bool is_far(const Breaker& breaker) const;

  // The end of a batch (job_table_end.cpp).
  void lose_leases();
  void come_back(std::size_t document, const UnderWay& lost);
  // A dispatch that has ended for these targets and is to be made again.
  [[nodiscard]] Waiting again(const UnderWay& ended, TargetSet targets) const;
  void give_to_newer(DocumentJob& document, Waiting& entry) const;
  void wait_again(DocumentJob& document, Waiting entry);
  void fail_entries();
  void expire_entries();
  void dispatch_all();
  [[nodiscard]] std::optional<Place> next_to_dispatch() const;
  void dispatch(std::size_t document, Waiting entry);
  void count();

  Rules rules_;
  std::map<TargetNumber, Breaker> breakers_;
  std::array<DocumentJob, kDocuments> documents_;
  std::uint64_t last_number_ = 0;
  std::uint64_t answered_ = 0;            // highest number of a dispatch that a command has ended
  std::vector<std::int64_t> release_ms_;  // from dispatches to their last releases
  UnixMs now_;
  std::size_t input_ = 0;  // that is being decided
  Answer answer_;          // of the running batch
};

}  // namespace reseq::journal
