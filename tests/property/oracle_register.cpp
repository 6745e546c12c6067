// What a registration says about itself: accepted only when due, stopped only for a reason that the history bears out.
#include <algorithm>

#include "tests/property/oracle.h"

namespace reseq::property {
namespace {

// Stopped because something newer is known.
bool is_superseded(Reason reason) {
  return reason == Reason::kSuperseded || reason == Reason::kEpochBehind;
}

// Its sequence is not older than what it lost against: only the epoch is.
bool only_epoch_is_older(const Order& order, const Order& newer) {
  return order.epoch < newer.epoch && order.sequence >= newer.sequence;
}

}  // namespace

Oracle::Claiming Oracle::claiming(const Registration& what, const Order& order) const {
  Claiming result;
  result.order = order;
  result.sweeping = what.op == Op::kDelete && !what.targets;
  result.targets = what.targets.value_or(model_.routed(what));
  if (result.sweeping) result.targets |= past().exists() ? past().known() : model_.context.all_targets;
  const auto newest = [&](TargetNumber t) { return past().newest(t); };
  result.gains = those(result.targets, [&](TargetNumber t) { return !newest(t) || *newest(t) < order; });
  result.behind = those(result.targets, [&](TargetNumber t) { return newest(t) && *newest(t) > order; });
  result.below_barrier = past().below_barrier(order);
  return result;
}

// A newer request whose targets all got what the newest one asked for, and which asks for the very same.
bool Oracle::has_what_it_asks_for(const Request& request, const Claiming& claim) const {
  if (request.wish == nullptr || request.reprocess || claim.targets.empty() || !claim.waits.empty()) return false;
  const auto asked = past().newest_asked();
  if (!asked || asked->order >= claim.order) return false;
  const Digest content = past().content_asked(asked->order);
  return content != Digest() && content == request.wish->content &&
         past().with(Standing::kServed, asked->order).covers(claim.targets);
}

void Oracle::judge_unchanged(const Request& request, const Claiming& claim) {
  past().keep(claim.order, claim.targets, request.wish->content, batch_->now);
  if (claim.sweeping) past().raise_barrier(claim.order, batch_->now);
  past().ask({claim.order, request.hash, request.wish->content});
}

void Oracle::judge_request(const Entry& entry, const Request& request, std::size_t index) {
  const Registration& what = request.what;
  const Reason reason = entry.decision.reason;
  const bool in_vain = request.reprocess && model_.tap();
  require(in_vain == (reason == Reason::kReprocessNeedsInline),
          "reprocess_needs_inline exactly for a reprocess in tap");
  if (in_vain) return;
  const Order order{what.epoch.value_or(state_.default_epoch), what.sequence, what.revision};
  Claiming claim = claiming(what, order);
  const auto newest = past().newest_order();
  if (request.reprocess && newest && same_request(*newest, order)) {
    // A delete for all also takes those that wait behind: they would be below its barrier.
    const TargetSet again = those(past().known(), [&](TargetNumber t) {
      const bool of_it = same_request(*past().newest(t), order);
      return of_it ? past().standing(t) != Standing::kRemoved : claim.sweeping;
    });
    if (!again.empty()) {
      claim.again = true;
      claim.order.revision = Revision(newest->revision.value() + 1);
      claim.gains = again;
      claim.below_barrier = false;
      claim.behind = TargetSet();
    }
  }
  if (!claim.again) {
    if (!past().asked(order)) claim.waits = past().with(Standing::kPending, order);
    const auto asked = past().newest_asked();
    claim.reused = asked && asked->order == order && asked->hash != request.hash;
    claim.same = has_what_it_asks_for(request, claim);
  }
  const bool due = !claim.below_barrier && !claim.reused && !(claim.gains | claim.waits).empty();
  const bool accepted = reason == Reason::kNone || (due && is_superseded(reason));
  if (!accepted) return judge_stopped_request(entry, request, claim);
  require(due, "a request was accepted that has no target to gain");
  require(claim.same == (entry.decision.outcome == Outcome::kUnchanged),
          "unchanged exactly when all targets have what it asks for");
  if (claim.same) return judge_unchanged(request, claim);
  require(model_.tap() || request.work_bytes <= kBytesMax, "a request was accepted that `work` cannot take");
  accept(entry, claim, &request, index);
}

void Oracle::judge_stopped_request(const Entry& entry, const Request& request, const Claiming& claim) {
  const bool due = !(claim.gains | claim.waits).empty();
  switch (entry.decision.reason) {
    case Reason::kSequenceReused:
      return require_reason(entry, Outcome::kDeadLettered, Reason::kSequenceReused,
                            claim.reused && !claim.below_barrier,
                            "sequence_reused, but the newest requested order is another or has the same payload");
    case Reason::kTooLarge:
      return require_reason(entry, Outcome::kDeadLettered, Reason::kTooLarge,
                            !model_.tap() && request.work_bytes > kBytesMax && due && !claim.same,
                            "too_large, but `work` takes it or need not");
    default:
      require(claim.below_barrier || !claim.reused, "another payload under the newest requested order was overlooked");
      judge_not_registered(entry, claim);
  }
}

void Oracle::judge_not_registered(const Entry& entry, const Claiming& claim) {
  const bool older = claim.below_barrier;
  const bool due = !(claim.gains | claim.waits).empty();
  const bool raises = claim.sweeping && !older;
  switch (entry.decision.reason) {
    case Reason::kNoTarget:
      return require_reason(entry, Outcome::kDeadLettered, Reason::kNoTarget, claim.targets.empty(),
                            "no_target, but it has targets");
    case Reason::kSuperseded:
    case Reason::kEpochBehind:
      require_reason(entry, Outcome::kDropped, entry.decision.reason, older || (!due && !claim.behind.empty()),
                     "superseded, but nothing newer is known");
      judge_epoch_behind(entry, claim);
      break;
    case Reason::kDuplicate:
      require_reason(entry, Outcome::kDropped, Reason::kDuplicate,
                     !older && !due && claim.behind.empty() && !claim.targets.empty(),
                     "duplicate, but it was not accepted before");
      break;
    default:
      require(false, "a reason that no registration has");
  }
  if (raises) past().raise_barrier(claim.order, batch_->now);
}

// `epoch_behind` is said when only the epoch is older than what it lost against.
void Oracle::judge_epoch_behind(const Entry& entry, const Claiming& claim) {
  std::vector<Order> against;
  if (claim.below_barrier)
    against.push_back(*past().barrier());
  else
    for (const TargetNumber t : claim.behind) against.push_back(*past().newest(t));
  const auto by_epoch = [&](const Order& newer) { return only_epoch_is_older(claim.order, newer); };
  if (entry.decision.reason == Reason::kEpochBehind)
    require(std::any_of(against.begin(), against.end(), by_epoch), "epoch_behind, but its sequence is older too");
  else
    require(!std::all_of(against.begin(), against.end(), by_epoch), "superseded, but only its epoch is older");
}

void Oracle::judge_register(const Entry& entry, const Register& command) {
  const Registration& what = command.what;
  if (!judge_epoch(entry, what.epoch)) return;
  const Order order{what.epoch.value_or(Epoch(0)), what.sequence, what.revision};
  const Claiming claim = claiming(what, order);
  if (entry.decision.reason != Reason::kNone) return judge_not_registered(entry, claim);
  require(entry.decision.outcome == Outcome::kRegistered, "a REGISTER that is neither registered nor stopped");
  require(!claim.below_barrier, "a REGISTER below the barrier was accepted");
  require(!claim.gains.empty(), "a REGISTER was accepted that has no target to gain");
  require(entry.requests_read, "a REGISTER of something unknown was decided before requests were read to their end");
  accept(entry, claim, nullptr, 0);
}

void Oracle::accept(const Entry& entry, const Claiming& claim, const Request* request, std::size_t index) {
  past().claim({claim.order, claim.gains, request != nullptr}, batch_->now);
  if (claim.sweeping) past().raise_barrier(claim.order, batch_->now);
  if (!request) return;
  past().ask({claim.order, request->hash, request->wish != nullptr ? request->wish->content : Digest()});
  if (model_.tap()) return require(entry.decision.outcome == Outcome::kRegistered, "tap: an accepted request");
  open_forwards_.push_back({index, document_, claim.order, claim.gains | claim.waits});
}

// What later requests of the batch took over is not forwarded any more.
void Oracle::narrow_forwards() {
  for (OpenForward& open : open_forwards_) {
    Past& past = pasts_[open.document];
    const TargetSet left = those(open.targets, [&](TargetNumber t) { return past.newest(t) == open.order; });
    if (hits_ && left.empty()) ++hits_->withdrawn;
    if (hits_ && !left.empty() && left != open.targets) ++hits_->narrowed;
    open.targets = left;
    if (!left.empty()) past.forward(open.order, left);
  }
}

void Oracle::settle_forwards(const BatchRecord& batch) {
  for (const OpenForward& open : open_forwards_) {
    entry_ = &batch.entries[open.entry];
    const Entry& entry = *entry_;
    if (entry.held) {
      hold(entry, open);
      continue;
    }
    if (open.targets.empty()) {
      require(!entry.forward, "a forward superseded in its own batch was not withdrawn");
      require(entry.decision.outcome == Outcome::kDropped && entry.decision.reason == Reason::kSuperseded,
              "a withdrawn forward is superseded");
      continue;
    }
    require(entry.forward.has_value(), "an accepted request that is still the newest was not forwarded");
    if (!entry.forward) continue;
    require(entry.forward->order == open.order, "a forward with another order than the request's");
    require(entry.forward->targets == open.targets, "a forward that does not name exactly the targets that wait");
    require(entry.forward->op == std::get<Request>(entry.input.command).what.op, "a forward with another op");
  }
  open_forwards_.clear();
  entry_ = nullptr;
}

}  // namespace reseq::property
