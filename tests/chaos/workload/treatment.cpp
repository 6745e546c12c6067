#include "tests/chaos/workload/treatment.h"

#include <algorithm>
#include <array>
#include <utility>

#include "codec/header_names.h"
#include "tests/chaos/workload/draws.h"
#include "tests/chaos/workload/plan.h"

namespace reseq::chaos {

namespace header = codec::header;

namespace {

enum class BadCommand : std::uint8_t {
  kNone,
  kObserved,
  kUnknownTarget,
  kSequence,
  kEpoch,
  kAmbiguous,
  kUnregistered,
  kCount
};

// What is fixed for all answers to an order.
struct OrderPlan {
  std::string added{};     // a target that is found out late
  std::string given_up{};  // a target, whether the document has it or not
  bool all_given_up = false;
  BadCommand bad = BadCommand::kNone;
};

// What is fixed for one target of an order.
struct PiecePlan {
  std::optional<stage::WorkFailure> failure;
  bool lost = false;
  bool given_up = false;
  bool answered = true;
};

OrderPlan plan_of_order(std::uint64_t seed, std::string_view id, std::uint32_t epoch, std::uint64_t sequence) {
  Draws draws(seed, "order", id, epoch, sequence);
  OrderPlan plan;
  const std::vector<config::Target> all = targets();
  const auto any = [&] { return all[draws.below(all.size())].name; };
  if (draws.chance(15)) plan.added = any();
  if (draws.chance(8)) plan.given_up = any();
  plan.all_given_up = draws.chance(4);
  if (draws.chance(12))
    plan.bad = static_cast<BadCommand>(1 + draws.below(static_cast<std::uint64_t>(BadCommand::kCount) - 1));
  return plan;
}

stage::WorkFailure failure(Draws& draws) {
  const bool for_good = draws.chance(200);
  const bool universal = draws.chance(300);
  return {.kind = for_good ? FailureKind::kPermanent : FailureKind::kTransient,
          .scope = universal && !for_good ? FailureScope::kUniversal : FailureScope::kDocument,
          .error = for_good ? "not a PDF" : "locked"};
}

PiecePlan plan_of_piece(std::uint64_t seed, std::string_view id, std::string_view target, std::uint32_t epoch,
                        std::uint64_t sequence) {
  Draws draws(seed, "piece", id, target, epoch, sequence);
  PiecePlan plan;
  plan.lost = draws.chance(10);
  plan.given_up = !plan.lost && draws.chance(10);
  plan.answered = !plan.lost && (!plan.given_up || draws.chance(500));
  if (draws.chance(40)) plan.failure = failure(draws);
  return plan;
}

bool fails(const PiecePlan& plan, const WorkOrder& order) {
  if (!plan.failure || order.attempt == 0) return false;
  return order.attempt <= kAttemptsFailed || plan.failure->kind == FailureKind::kPermanent;
}

struct DelayShare {
  std::uint64_t below;  // of a thousand
  std::uint64_t from_ms;
  std::uint64_t to_ms;
};
constexpr std::array kDelays = {
    DelayShare{.below = 800, .from_ms = 0, .to_ms = 15},
    DelayShare{.below = 950, .from_ms = 15, .to_ms = 400},
    DelayShare{.below = 995, .from_ms = 400, .to_ms = 3'000},
    DelayShare{.below = 1'000, .from_ms = 3'000, .to_ms = 10'000},
};

Milliseconds delay(Draws& draws) {
  const std::uint64_t what = draws.below(1'000);
  const auto* share =
      std::find_if(kDelays.begin(), kDelays.end(), [&](const DelayShare& one) { return what < one.below; });
  return Milliseconds(static_cast<std::int64_t>(share->from_ms + draws.below(share->to_ms - share->from_ms)));
}

stage::StageResult command(stage::Answer answer, std::string target) {
  return {.answer = answer, .target = std::move(target)};
}

stage::StageResult bad_command(BadCommand kind, const WorkOrder& order, const std::vector<std::string>& targets) {
  stage::StageResult result = command(stage::Answer::kSequence, targets.front());
  switch (kind) {
    case BadCommand::kObserved:
      result.observed = Version(9'000'000'000'000'000'000U);
      break;
    case BadCommand::kUnknownTarget:
      result.target = "nobody";
      break;
    case BadCommand::kSequence:
      result.headers.push_back({std::string(header::kSeq), "x"});
      break;
    case BadCommand::kEpoch:
      result.headers.push_back({std::string(header::kEpoch), std::nullopt});
      break;
    case BadCommand::kAmbiguous:
      // Without a target of its own it says the list that was copied from `work`.
      result = command(stage::Answer::kUnregister, "");
      break;
    default:
      // Nobody will ever ask for it. A monotonic target would take it.
      result.target = chaos::targets().front().name;
      result.headers.push_back({std::string(header::kSeq), std::to_string(order.sequence + (std::uint64_t{1} << 40))});
      break;
  }
  return result;
}

}  // namespace

std::vector<PlannedAnswer> answers(std::uint64_t seed, const WorkOrder& order,
                                   const std::vector<std::string>& targets) {
  Draws draws(seed, "delays", order.id, order.epoch, order.sequence, order.revision);
  std::vector<PlannedAnswer> found;
  for (const std::string& target : targets) {
    const PiecePlan plan = plan_of_piece(seed, order.id, target, order.epoch, order.sequence);
    if (plan.given_up) found.push_back({delay(draws), command(stage::Answer::kUnregister, target)});
    if (fails(plan, order)) {
      found.push_back({delay(draws), {.answer = stage::Answer::kFail, .target = target, .failure = *plan.failure}});
      continue;
    }
    const bool answered = plan.lost ? order.attempt > kAttemptsLost : plan.answered;
    const int times = !answered ? 0 : draws.chance(120) ? 2 : 1;
    for (int i = 0; i < times; ++i) found.push_back({delay(draws), command(stage::Answer::kSequence, target)});
  }
  const OrderPlan plan = plan_of_order(seed, order.id, order.epoch, order.sequence);
  if (!plan.added.empty()) {
    const Milliseconds at = delay(draws);
    found.push_back({at, command(stage::Answer::kRegister, plan.added)});
    found.push_back({Milliseconds(at.value() + 1 + static_cast<std::int64_t>(draws.below(1'500))),
                     command(stage::Answer::kSequence, plan.added)});
  }
  if (!plan.given_up.empty()) found.push_back({delay(draws), command(stage::Answer::kUnregister, plan.given_up)});
  if (plan.all_given_up) found.push_back({delay(draws), command(stage::Answer::kUnregister, "*")});
  if (plan.bad != BadCommand::kNone && !targets.empty())
    found.push_back({delay(draws), bad_command(plan.bad, order, targets)});
  std::stable_sort(found.begin(), found.end(),
                   [](const PlannedAnswer& a, const PlannedAnswer& b) { return a.after < b.after; });
  return found;
}

bool excused(std::uint64_t seed, const judge::Piece& piece, bool has_leases) {
  const PiecePlan of_piece = plan_of_piece(seed, piece.id, piece.target, piece.epoch, piece.sequence);
  const OrderPlan of_order = plan_of_order(seed, piece.id, piece.epoch, piece.sequence);
  return (of_piece.lost && !has_leases) || of_piece.given_up || of_order.all_given_up ||
         of_order.given_up == piece.target;
}

}  // namespace reseq::chaos
