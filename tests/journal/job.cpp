// How a history is told to a person.
#include "tests/journal/job.h"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace reseq::journal {
namespace {

std::string_view name_of_kind(Kind kind) {
  switch (kind) {
    case Kind::kRequest:
      return "request";
    case Kind::kExpire:
      return "expire";
    case Kind::kNow:
      return "dispatch now";
    case Kind::kPostpone:
      return "postpone";
    case Kind::kResume:
      return "resume";
    case Kind::kRegister:
      return "REGISTER";
    case Kind::kResult:
      return "SEQUENCE";
    case Kind::kUnregister:
      return "UNREGISTER";
    case Kind::kFail:
      return "FAIL";
    default:
      return "HEARTBEAT";
  }
}

std::string describe(const Released& released) {
  return std::to_string(released.document) + " order " + std::to_string(released.order) + " to " +
         std::to_string(released.target.value());
}

std::string describe(const TimedOut& one) {
  return std::to_string(one.document) + " order " + std::to_string(one.order);
}

template <typename T>
std::string list_of(const std::vector<T>& all) {
  std::string text;
  for (const T& one : all) text += (text.empty() ? "" : "; ") + describe(one);
  return "[" + text + "]";
}

template <typename T>
std::string differs(std::string_view what, const T& expected, const T& got) {
  return std::string(what) + ": expected " + expected + ", got " + got;
}

}  // namespace

std::string difference(const Batch& batch, const Answer& expected, const Answer& got) {
  if (expected.verdicts.size() != got.verdicts.size()) return "inputs and outcomes differ in number";
  for (std::size_t i = 0; i < expected.verdicts.size(); ++i)
    if (batch.inputs[i].kind != Kind::kHeartbeat && expected.verdicts[i] != got.verdicts[i])
      return differs(describe(batch.inputs[i]), describe(expected.verdicts[i]), describe(got.verdicts[i]));
  if (expected.released != got.released) return differs("released", list_of(expected.released), list_of(got.released));
  if (expected.timed_out != got.timed_out)
    return differs("timed out", list_of(expected.timed_out), list_of(got.timed_out));
  if (expected.dispatched != got.dispatched)
    return differs("dispatched", list_of(expected.dispatched), list_of(got.dispatched));
  if (expected.waiting != got.waiting)
    return differs("documents that wait", std::to_string(expected.waiting), std::to_string(got.waiting));
  if (expected.processing != got.processing)
    return differs("documents under way", std::to_string(expected.processing), std::to_string(got.processing));
  if (expected.failed != got.failed)
    return differs("targets that failed for good", std::to_string(expected.failed), std::to_string(got.failed));
  if (expected.down != got.down) return differs("targets that are down", describe(expected.down), describe(got.down));
  return {};
}

std::string describe(const Rules& rules) {
  std::ostringstream out;
  out << "in_flight_max " << rules.in_flight_max << ", default_priority " << unsigned{rules.default_priority}
      << ", idle_from " << rules.idle_from << ", process_at_max " << rules.process_at_max_ms << ", consolidate "
      << rules.consolidate_ms << (rules.consolidate_measured ? " or as measured" : "") << ", one_at_a_time "
      << rules.one_at_a_time << ", lease " << rules.lease_ms << ", timeouts_max " << rules.timeouts_max
      << ", last_attempt_only " << rules.last_attempt_only << ", skips_unchanged " << rules.skips_unchanged
      << ", retries_max " << rules.retries_max << ", repeats_max " << rules.repeats_max << ", inherit_failed "
      << rules.inherit_failed << ", potent " << describe(rules.potent) << ", breaker_documents "
      << rules.breaker_documents;
  return out.str();
}

std::string describe(TargetSet targets) {
  std::string text = "{";
  for (const TargetNumber target : targets) text += (text.size() > 1 ? "," : "") + std::to_string(target.value());
  return text + "}";
}

std::string describe(const Input& input) {
  std::ostringstream out;
  out << name_of_kind(input.kind) << ' ' << input.document;
  if (!is_of_operator(input.kind)) out << " order " << input.order;
  out << (input.targets ? " of " + describe(*input.targets) : std::string(" of *"));
  if (input.deletes) out << " delete";
  if (input.kind == Kind::kRequest) out << " hash " << input.hash << " at " << input.timestamp.value();
  if (input.kind == Kind::kHeartbeat) out << " at " << input.timestamp.value();
  if (input.priority) out << " priority " << unsigned{*input.priority};
  if (input.process_at) out << " process at " << input.process_at->value();
  if (input.expires_at) out << " expires at " << input.expires_at->value();
  if (input.kind == Kind::kFail)
    out << " kind " << static_cast<unsigned>(input.failure) << " scope " << static_cast<unsigned>(input.scope)
        << " error " << unsigned{input.error} << (input.without_effect ? " nothing was done" : "");
  if (input.attempt != 0) out << " attempt " << input.attempt;
  return out.str();
}

std::string describe(const Verdict& verdict) {
  std::string text(name_of(verdict.outcome));
  if (verdict.reason != Reason::kNone) text += " " + std::string(name_of(verdict.reason));
  return text;
}

std::string describe(const Dispatched& one) {
  return std::to_string(one.document) + " order " + std::to_string(one.order) + " to " + describe(one.targets) +
         " attempt " + std::to_string(one.attempt) + " until " + std::to_string(one.lease_until.value());
}

std::string describe(const Batch& batch, const Answer& answer) {
  std::ostringstream out;
  out << "batch at " << batch.now.value() << "\n";
  for (std::size_t i = 0; i < batch.inputs.size(); ++i)
    out << "    " << describe(batch.inputs[i]) << "  ->  "
        << (i < answer.verdicts.size() ? describe(answer.verdicts[i]) : std::string("nothing")) << "\n";
  for (const TimedOut& one : answer.timed_out) out << "    timed out: " << describe(one) << "\n";
  for (const Dispatched& one : answer.dispatched) out << "    dispatched: " << describe(one) << "\n";
  out << "    " << answer.waiting << " wait, " << answer.processing << " under way"
      << (answer.down.empty() ? "" : ", down: " + describe(answer.down)) << "\n";
  return out.str();
}

}  // namespace reseq::journal
