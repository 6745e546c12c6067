// What holds at the end, when everything accepted has been delivered: read from the plain lists of what was accepted,
// released, given up and lost, not from the running judgement.
#include <algorithm>

#include "tests/property/oracle.h"

namespace reseq::property {

void Oracle::finish(const std::vector<LostWork>& lost, const Rows& rows) {
  muted_ = false;
  judge_nothing_waits(rows);
  for (std::size_t document = 0; document < kDocuments; ++document) {
    document_ = document;
    judge_end(document, lost);
    judge_kept(document);
    judge_barriers(pasts_[document]);
    judge_asked_for(document);
  }
}

// A result of this order came but was refused for a reason that leaves its target waiting.
bool Oracle::result_refused(std::size_t document, TargetNumber t, const Order& order) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Entry& entry) {
    const auto* result = std::get_if<SequenceResult>(&entry.input.command);
    if (!result || result->id != kIds[document] || result->target != t) return false;
    if (result->sequence != order.sequence || result->revision != order.revision) return false;
    if (result->epoch.value_or(Epoch(0)) != order.epoch) return false;
    const Reason reason = entry.decision.reason;
    return reason == Reason::kVersionExhausted || reason == Reason::kEpochMissing;
  });
}

void Oracle::judge_end(std::size_t document, const std::vector<LostWork>& lost) {
  const Past& past = pasts_[document];
  for (const TargetNumber t : kEveryTarget) {
    std::optional<Order> accepted;
    for (const Claim& claim : past.claims())
      if (claim.targets.contains(t) && (!accepted || *accepted < claim.order)) accepted = claim.order;
    std::optional<Order> released;
    std::uint64_t version = 0;
    for (const Settled& release : past.releases()) {
      if (release.target != t) continue;
      require(!released || *released < release.order, "releases of a target go down in order");
      require(version < release.version.value(), "versions of a target go down");
      released = release.order;
      version = release.version.value();
    }
    for (const Kept& kept : past.kept())
      if (kept.target == t && (!released || *released < kept.order)) released = kept.order;
    if (released == accepted) continue;
    require(accepted.has_value(), "a release for a target that nothing was registered for");
    if (!accepted) continue;
    require(!released || *released < *accepted, "a release newer than all that was accepted");
    if (past.given_up_from(t, *accepted)) continue;
    const bool was_lost = std::any_of(lost.begin(), lost.end(), [&](const LostWork& each) {
      return each.document == document && each.target == t && each.order == *accepted;
    });
    require(was_lost || result_refused(document, t, *accepted),
            std::string("document ") + std::string(kIds[document]) + " target " + std::to_string(t.value()) +
                ": the last release is not the newest accepted order " + describe(*accepted));
  }
}

// What was skipped because nothing of it was new: what the target got last was asked for in the very same words.
void Oracle::judge_kept(std::size_t document) {
  const Past& past = pasts_[document];
  for (const Kept& kept : past.kept())
    require(past.asked_for(kept.from, kept.content), "called unchanged, but what was released was something else");
}

void Oracle::judge_barriers(const Past& past) {
  for (const Raised& raised : past.raised())
    for (std::size_t i = raised.releases_before; i < past.releases().size(); ++i)
      require(past.releases()[i].order >= raised.barrier, "a release below a barrier that was accepted before it");
}

// What producers and pipelines asked for, whatever the engine said to it, unless it was a dead letter: nothing newer
// than what was accepted may be left behind, unless a delete for all targets lies above it.
void Oracle::judge_asked_for(std::size_t document) {
  const Past& past = pasts_[document];
  Epoch default_epoch = model_.state.default_epoch;
  for (const Entry& entry : all_) {
    const auto* reset = std::get_if<Reset>(&entry.input.command);
    if (reset && entry.decision.outcome == Outcome::kApplied)
      default_epoch = std::max(default_epoch, reset->default_epoch);
    if (entry.decision.outcome == Outcome::kDeadLettered) continue;
    const auto* request = std::get_if<Request>(&entry.input.command);
    const auto* command = std::get_if<Register>(&entry.input.command);
    if ((!request && !command) || (request && request->reprocess)) continue;
    const Registration& what = request ? request->what : command->what;
    const Order order{what.epoch.value_or(request ? default_epoch : Epoch(0)), what.sequence, what.revision};
    if (what.id != kIds[document] || past.below_barrier(order)) continue;
    for (const TargetNumber t : what.targets.value_or(model_.routed(what))) {
      require(past.newest(t) && *past.newest(t) >= order,
              "a registration was stopped that is newer than all accepted\n  " + describe(entry));
    }
  }
}

}  // namespace reseq::property
