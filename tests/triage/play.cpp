#include "tests/triage/play.h"

#include <array>
#include <stdexcept>
#include <string_view>

namespace reseq::triage {

namespace {

constexpr std::size_t kThreeTimes = 3;
// How long nothing else may happen when a cell just goes on.
constexpr Milliseconds kWatch{1'500};

// What brings about the request that is to fail.
enum class Occasion : std::uint8_t {
  kTransaction,    // a record is processed
  kAbort,          // a transaction is aborted: its offsets meet a membership that is void
  kRecycle,        // the producer is replaced: a commit met a state that does not exist
  kLostGroup,      // the producer looks for the coordinator of the group again
  kLostHeartbeat,  // the consumer looks for it again
  kStart,          // a new worker
  kHeartbeats,     // nothing: it comes by itself
};

struct Use {
  std::string_view api;
  Api request;
  Occasion occasion;
};
constexpr std::array<Use, 18> kUses = {
    Use{"InitProducerId", Api::kInitProducerId, Occasion::kRecycle},
    Use{"AddPartitionsToTxn", Api::kAddPartitionsToTxn, Occasion::kTransaction},
    Use{"AddOffsetsToTxn", Api::kAddOffsetsToTxn, Occasion::kTransaction},
    Use{"TxnOffsetCommit", Api::kTxnOffsetCommit, Occasion::kTransaction},
    Use{"EndTxn/commit", Api::kEndTxn, Occasion::kTransaction},
    Use{"EndTxn/abort", Api::kEndTxn, Occasion::kAbort},
    Use{"Produce", Api::kProduce, Occasion::kTransaction},
    Use{"FindCoordinator/transaction", Api::kFindCoordinator, Occasion::kRecycle},
    Use{"FindCoordinator/offsets", Api::kFindCoordinator, Occasion::kLostGroup},
    Use{"FindCoordinator/group", Api::kFindCoordinator, Occasion::kLostHeartbeat},
    Use{"JoinGroup", Api::kJoinGroup, Occasion::kStart},
    Use{"SyncGroup", Api::kSyncGroup, Occasion::kStart},
    Use{"Heartbeat", Api::kHeartbeat, Occasion::kHeartbeats},
    Use{"OffsetFetch", Api::kOffsetFetch, Occasion::kRecycle},
    Use{"Metadata/inputs", Api::kMetadata, Occasion::kStart},
    Use{"Metadata/outputs", Api::kMetadata, Occasion::kRecycle},
    Use{"Fetch", Api::kFetch, Occasion::kTransaction},
    Use{"ListOffsets", Api::kListOffsets, Occasion::kRecycle},
};

const Use& use_of(const std::string& api) {
  for (const Use& use : kUses)
    if (use.api == api) return use;
  throw std::runtime_error("no use of " + api);
}

class Play {
 public:
  Play(const Cell& cell, Subject& subject) : cell_(cell), use_(use_of(cell.api)), subject_(subject) {}

  Outcome run() {
    if (use_.occasion != Occasion::kStart && !subject_.catch_up()) return failed("it was not ready");
    note_before();
    subject_.feed();
    inject();
    provoke();
    if (use_.occasion == Occasion::kStart) subject_.start();
    if (auto reached = reach(); !reached.empty()) return failed(reached);
    if (cell_.times == Times::kAlways) heal();
    if (subject_.ended() || !subject_.parked_because().empty()) return judged(after_restart());
    subject_.feed();
    if (!subject_.catch_up()) return failed("after the errors nothing is committed");
    return judged({});
  }

 private:
  void note_before() {
    if (use_.occasion == Occasion::kStart) return;
    before_ = subject_.totals();
    takeovers_before_ = subject_.takeovers();
  }

  void inject() {
    if (use_.request == Api::kMetadata) return fail_topics(cell_.code);
    if (cell_.times == Times::kAlways) return subject_.kafka().fail_always(use_.request, cell_.code);
    subject_.kafka().fail(use_.request, cell_.code, cell_.times == Times::kOnce ? 1 : kThreeTimes, kLate);
  }

  void heal() {
    if (use_.request == Api::kMetadata) return fail_topics(RD_KAFKA_RESP_ERR_NO_ERROR);
    subject_.kafka().end_failing(use_.request);
  }

  void fail_topics(rd_kafka_resp_err_t code) {
    if (use_.occasion == Occasion::kRecycle) return subject_.kafka().fail_topic(subject_.topic(Role::kChangelog), code);
    for (const Role role : runtime::kInputs) subject_.kafka().fail_topic(subject_.topic(role), code);
  }

  void provoke() {
    ++provoked_;
    MockKafka& kafka = subject_.kafka();
    switch (use_.occasion) {
      case Occasion::kAbort:
        return kafka.fail(Api::kTxnOffsetCommit, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, 1, kLate);
      case Occasion::kRecycle:
        return kafka.fail(Api::kEndTxn, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, 1, kLate);
      case Occasion::kLostGroup:
        return kafka.fail(Api::kTxnOffsetCommit, RD_KAFKA_RESP_ERR_NOT_COORDINATOR, 1, kLate);
      case Occasion::kLostHeartbeat:
        return kafka.fail(Api::kHeartbeat, RD_KAFKA_RESP_ERR_NOT_COORDINATOR, 1, kLate);
      case Occasion::kTransaction:
      case Occasion::kStart:
      case Occasion::kHeartbeats:
        return;
    }
  }

  // On the mock a takeover takes the batch that failed for committed, so nothing would ask for the other errors. Not
  // while records cannot be fed; nor at the start, when nothing is caught up.
  void provoke_again() {
    if (use_.request == Api::kProduce || use_.occasion == Occasion::kStart || !subject_.caught_up()) return;
    subject_.feed();
    provoke();
  }

  // Runs until the errors have ended in what the table says. Not empty: why they did not.
  std::string reach() {
    const bool counted = cell_.times != Times::kAlways;
    const auto done = [&] { return subject_.ended() || !subject_.parked_because().empty(); };
    const auto consumed = [&] {
      if (done() || !counted || subject_.kafka().left(use_.request) == 0) return true;
      provoke_again();
      return false;
    };
    if (!subject_.run_until(consumed, kPatience) && !subject_.ended()) return "not all errors were asked for";
    if (cell_.endings.contains(Ending::kGoesOn)) {
      (void)subject_.run_until([] { return false; }, kWatch);
      return {};
    }
    const auto as_told = [&] {
      if (cell_.endings.contains(ending())) return true;
      if (!counted) provoke_again();
      return false;
    };
    if (!subject_.run_until(as_told, kPatience) && !subject_.ended()) return "it does not come to its end";
    return {};
  }

  // A process that ended, or waits for a person, works again when it is started and the errors are gone. Errors that
  // nobody has asked for yet meet the next process: each start bears at least one of them.
  std::string after_restart() {
    const Ending reached = ending();
    described_ = describe();
    restarted_ = reached;
    for (std::size_t i = 0; i < kThreeTimes; ++i) {
      subject_.stop();
      subject_.start();
      if (i == 0) subject_.feed();
      if (subject_.catch_up()) return {};
    }
    return "after a restart nothing is committed";
  }

  [[nodiscard]] Ending ending() const {
    if (restarted_) return *restarted_;
    if (subject_.ended()) return Ending::kEnds;
    if (!subject_.parked_because().empty()) return Ending::kParked;
    const runtime::Totals& now = subject_.totals();
    const std::uint64_t own = use_.occasion == Occasion::kRecycle ? provoked_ : 0;
    const std::uint64_t own_takeovers = use_.occasion == Occasion::kStart ? 1 : own;
    const std::uint64_t own_aborts = use_.occasion == Occasion::kAbort ? provoked_ : 0;
    const bool recycled = now.recycled > before_.recycled + own;
    const bool taken_over = subject_.takeovers() > takeovers_before_ + own_takeovers;
    if (recycled && (taken_over || !subject_.caught_up())) return Ending::kRecycled;
    if (taken_over) return Ending::kRejoined;
    if (now.aborted > before_.aborted + own_aborts) return Ending::kAborted;
    if (recycled) return Ending::kRenewed;
    return Ending::kGoesOn;
  }

  [[nodiscard]] std::string describe() const {
    const runtime::Totals& now = subject_.totals();
    std::string text = "aborted=" + std::to_string(now.aborted - before_.aborted) +
                       " recycled=" + std::to_string(now.recycled - before_.recycled) +
                       " takeovers=" + std::to_string(subject_.takeovers() - takeovers_before_);
    if (subject_.ended()) text += " ended: " + subject_.ended()->message;
    if (const auto why = subject_.parked_because(); !why.empty()) text += " parked: " + why;
    return text;
  }

  Outcome judged(const std::string& trouble) {
    if (!trouble.empty()) return failed(trouble);
    const std::string facts = described_.empty() ? describe() : described_;
    return {cell_.endings.contains(ending()), name_of(ending()) + " (" + facts + ")"};
  }

  Outcome failed(const std::string& why) {
    return {false, why + ": " + name_of(ending()) + " (" + (described_.empty() ? describe() : described_) + ")"};
  }

  const Cell& cell_;
  const Use& use_;
  Subject& subject_;
  runtime::Totals before_;
  std::uint64_t takeovers_before_ = 0;
  std::uint64_t provoked_ = 0;
  std::string described_;
  std::optional<Ending> restarted_;
};

// What one of these leaves behind changes what the next one does for a minute.
bool is_fence(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH || code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
         code == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID;
}

// Answers that are late, and connections that are made again, may still be on their way in the next one.
bool is_cut(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__TRANSPORT || code == RD_KAFKA_RESP_ERR__TIMED_OUT;
}

}  // namespace

Outcome play(const Cell& cell, std::unique_ptr<Subject>& subject) {
  const Occasion occasion = use_of(cell.api).occasion;
  const bool start = occasion == Occasion::kStart;
  // A group may still change when the errors are over, and a question that was put off may be asked in the next one.
  const bool of_group = occasion == Occasion::kHeartbeats || use_of(cell.api).request == Api::kFindCoordinator;
  // The mock looks for errors without a count only where there were never any with one.
  const bool always = cell.times == Times::kAlways;
  const bool alone = start || of_group || always || is_fence(cell.code) || is_cut(cell.code);
  if (alone || !subject) {
    subject = std::make_unique<Subject>();
    if (!start) {
      subject->start();
      subject->feed();
    }
  }
  Outcome outcome = Play(cell, *subject).run();
  if (!outcome.as_told || alone) subject.reset();
  return outcome;
}

}  // namespace reseq::triage
