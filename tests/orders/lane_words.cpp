#include "tests/orders/lane_words.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace reseq::orders {
namespace {

std::string describe(TargetSet targets) {
  std::string text;
  for (const TargetNumber target : targets) text += std::array{"newest ", "strict ", "total "}[target.value()];
  return text.empty() ? "*" : text.substr(0, text.size() - 1);
}

std::string describe(const Input& input) {
  static constexpr std::array kNames = {"request", "expire", "skip", "register", "result", "unregister"};
  std::string text = std::string(kNames[static_cast<std::size_t>(input.kind)]) + " " + std::to_string(input.document) +
                     ":" + std::to_string(input.order) + " " + describe(input.targets);
  if (input.deletes) text += input.has_list ? " delete" : " delete for all";
  if (input.hash != 0) text += " payload " + std::to_string(input.hash);
  if (input.reprocess) text += " reprocess";
  if (input.too_large) text += " too large";
  return text;
}

std::string describe(const Verdict& verdict) {
  return std::string(name_of(verdict.outcome)) +
         (verdict.reason == Reason::kNone ? "" : " " + std::string(name_of(verdict.reason)));
}

std::string describe(const Released& one) {
  return std::to_string(one.document) + ":" + std::to_string(one.order) + " " + describe(TargetSet::of(one.target));
}

using ByLane = std::map<std::pair<TargetNumber, std::size_t>, std::vector<std::pair<std::size_t, OrderNumber>>>;

ByLane by_lane(const std::vector<Released>& all) {
  ByLane lanes;
  for (const Released& one : all)
    lanes[{one.target, one.target == kTotal ? 0 : one.document}].emplace_back(one.document, one.order);
  return lanes;
}

}  // namespace

std::string difference(const Answer& expected, const Answer& got) {
  for (std::size_t i = 0; i < std::min(expected.verdicts.size(), got.verdicts.size()); ++i)
    if (expected.verdicts[i] != got.verdicts[i])
      return "input " + std::to_string(i) + ": expected " + describe(expected.verdicts[i]) + ", got " +
             describe(got.verdicts[i]);
  if (expected.verdicts.size() != got.verdicts.size()) return "not one verdict for each input";
  if (expected.forwarded != got.forwarded) return "something else is forwarded";
  if (by_lane(expected.released) != by_lane(got.released)) return "something else is released, or in another order";
  if (by_lane(expected.skipped) != by_lane(got.skipped)) return "something else is skipped";
  if (expected.places != got.places) return "another number of places";
  if (expected.held != got.held) return "another number of results is held";
  return {};
}

std::string describe(const Batch& batch, const Answer& answer) {
  std::string text = "at " + std::to_string(batch.now.value()) + (batch.fenced ? " fenced\n" : "\n");
  for (std::size_t i = 0; i < batch.inputs.size(); ++i)
    text += "  " + describe(batch.inputs[i]) +
            (i < answer.verdicts.size() ? " -> " + describe(answer.verdicts[i]) : "") + "\n";
  for (const Forwarded& one : answer.forwarded)
    text += "    work " + std::to_string(one.document) + ":" + std::to_string(one.order) + " " + describe(one.targets) +
            "\n";
  for (const Released& one : answer.released) text += "    released " + describe(one) + "\n";
  for (const Released& one : answer.skipped) text += "    skipped " + describe(one) + "\n";
  return text + "    " + std::to_string(answer.places) + " places, " + std::to_string(answer.held) + " held\n";
}

}  // namespace reseq::orders
