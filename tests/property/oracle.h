// Oracle: judges a history. It does not say what the engine should do next; it is shown what was done and checks, from
// the facts of the history alone, that every reason given is true, every acceptance was due, and the end is right:
// the last release of each document and target is the highest order accepted for it, unless a reason it can verify
// itself says why not.
// Thread rule: one thread.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tests/property/deciding.h"
#include "tests/property/history.h"
#include "tests/property/hits.h"
#include "tests/property/model.h"
#include "tests/property/past.h"

namespace reseq::property {

class Oracle {
 public:
  // `hits` may be null.
  Oracle(const Model& model, Hits* hits, Judged judged)
      : model_(model), hits_(hits), state_(model.state), judged_(judged) {}

  // `rows`: after the batch.
  void observe(const BatchRecord& batch, const Rows& rows);

  // Everything accepted has been delivered, but for what was lost on purpose.
  void finish(const std::vector<LostWork>& lost, const Rows& rows);

  // The first thing found wrong, or nothing.
  [[nodiscard]] const std::string& violation() const { return violation_; }

 private:
  // A registration as the history stands when it is decided.
  struct Claiming {
    Order order;
    TargetSet targets;
    bool sweeping = false;  // a delete without explicit targets
    bool again = false;     // reprocess
    TargetSet gains;        // targets that have nothing as new
    TargetSet waits;        // pending at this order, which no request has asked for that the row remembers
    TargetSet behind;       // targets that have something newer
    bool below_barrier = false;
    bool reused = false;  // another payload under the newest requested order
    bool same = false;    // all of its targets have what it asks for, from the newest requested order
  };
  // A request accepted in the running batch, whose forward is not settled before the batch is closed.
  struct OpenForward {
    std::size_t entry = 0;
    std::size_t document = 0;
    Order order;
    TargetSet targets;
  };

  // A request that a gate holds. Its forward leaves when the window is over, and names then whoever still waits for it.
  struct Waiting {
    Offset position;
    UnixMs window_end;
    std::size_t document = 0;
    Order order;
    Op op = Op::kUpsert;
    TargetSet targets;
  };

  void judge(const Entry& entry, std::size_t index);
  void judge_shape(const Entry& entry);
  void judge_refused(const Entry& entry, const Refused& refused);
  void judge_reset(const Entry& entry, const Reset& reset);
  [[nodiscard]] bool judge_epoch(const Entry& entry, const std::optional<Epoch>& epoch);

  void judge_request(const Entry& entry, const Request& request, std::size_t index);
  void judge_register(const Entry& entry, const Register& command);
  [[nodiscard]] Claiming claiming(const Registration& what, const Order& order) const;
  void judge_stopped_request(const Entry& entry, const Request& request, const Claiming& claiming);
  void judge_not_registered(const Entry& entry, const Claiming& claiming);
  void judge_epoch_behind(const Entry& entry, const Claiming& claiming);
  [[nodiscard]] bool has_what_it_asks_for(const Request& request, const Claiming& claiming) const;
  void judge_unchanged(const Request& request, const Claiming& claiming);
  void accept(const Entry& entry, const Claiming& claiming, const Request* request, std::size_t index);
  void settle_forwards(const BatchRecord& batch);
  void narrow_forwards();
  void hold(const Entry& entry, const OpenForward& open);
  void judge_gate(const BatchRecord& batch);
  void judge_bounds(const BatchRecord& batch);
  void judge_let_through(const LetThrough& one);
  void give_up(const Waiting& waiting, TargetSet targets, const DeadLetter& letter, Past& past);
  void judge_nothing_waits(const Rows& rows);

  void judge_unregister(const Entry& entry, const Unregister& command);
  [[nodiscard]] bool may_be_copied(TargetSet named, const Order& order) const;
  void judge_result(const Entry& entry, const SequenceResult& result);
  void judge_release(const Entry& entry, const SequenceResult& result, const Order& order);
  void judge_version_refusal(const Entry& entry, const SequenceResult& result);
  [[nodiscard]] bool may_release(const SequenceResult& result, const Order& order) const;
  [[nodiscard]] bool takes_rising(TargetNumber t, const Order& order) const;
  [[nodiscard]] std::uint64_t next_stamp(const SequenceResult& result) const;
  [[nodiscard]] bool observed_too_high(const SequenceResult& result) const;
  [[nodiscard]] std::uint64_t floor_of(TargetNumber t) const;
  void judge_policy(const Entry& entry, Reason reason, engine::OnUnregistered policy);

  [[nodiscard]] bool judge_expected(const Entry& entry, const std::optional<ExpectedRequest>& expected);
  [[nodiscard]] bool judge_dry_run(const Entry& entry, bool dry_run);
  void judge_expire(const Entry& entry, const Expire& command);
  void judge_by_hand(const Entry& entry, const ReleaseByHand& command);
  void judge_forced(const Entry& entry, const SequenceResult& result, const Order& order);

  [[nodiscard]] bool waits_too_long(const Past& past) const;
  [[nodiscard]] TargetSet targets_that_wait_too_long(const Past& past) const;
  void forget_overdue();
  void judge_timers(const BatchRecord& batch);
  void judge_rows(const Rows& rows);
  void judge_end(std::size_t document, const std::vector<LostWork>& lost);
  void judge_kept(std::size_t document);
  void judge_barriers(const Past& past);
  void judge_asked_for(std::size_t document);
  [[nodiscard]] bool result_refused(std::size_t document, TargetNumber t, const Order& order) const;

  [[nodiscard]] Past& past() { return pasts_[document_]; }
  [[nodiscard]] const Past& past() const { return pasts_[document_]; }
  void require(bool holds, std::string_view otherwise);
  void require_reason(const Entry& entry, Outcome outcome, Reason reason, bool holds, std::string_view otherwise);

  const Model& model_;
  Hits* hits_;
  std::array<Past, kDocuments> pasts_;
  std::size_t document_ = 0;
  const Entry* entry_ = nullptr;
  const BatchRecord* batch_ = nullptr;
  PartitionState state_;  // clock, last version, default epoch, floors as the history says
  Judged judged_;
  bool muted_ = false;  // only the end is judged, and this is not yet the end
  std::vector<OpenForward> open_forwards_;
  std::vector<Waiting> waiting_;  // in the order of their requests
  UnixMs latest_now_;             // a window that is over stays so when the clock steps back
  std::vector<Entry> all_;
  std::array<bool, kDocuments> reported_overdue_{};  // and waits since then
  std::array<std::uint64_t, kDocuments> judged_changes_{};
  std::string violation_;
};

}  // namespace reseq::property
