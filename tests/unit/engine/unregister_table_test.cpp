// Every UNREGISTER of a small world on every row of it: each target meets exactly one row of table U, as its text words
// it, and the engine's outcome is the first of U1, U3, U2, U4, U5 that some target meets.
#include <gtest/gtest.h>

#include "one_row.h"

namespace reseq::engine {
namespace {

RestatedTable restated(NaiveOrder o, const NaiveRow& row, const NaiveTarget& t) {
  const bool behind = (row.barrier != 0 && older(o, row.barrier)) || (t.newest != 0 && older(o, t.newest));
  const bool here = t.newest == o;
  const bool never_here = t.newest == 0 || older(t.newest, o);
  return {{TableRow::kU1, !behind && here && t.state == NaiveState::kPending},
          {TableRow::kU2, !behind && here && t.state != NaiveState::kPending},
          {TableRow::kU3, !behind && never_here && row.is_group(o)},
          {TableRow::kU4, behind},
          {TableRow::kU5, !behind && never_here && !row.is_group(o)}};
}

Outcome outcome_of(TableRow row) {
  if (row == TableRow::kU1 || row == TableRow::kU3) return Outcome::kRemoved;
  return row == TableRow::kU5 ? Outcome::kDeadLettered : Outcome::kDropped;
}

bool check_list(NaiveOrder o, TargetSet list, const NaiveRow& row, const Context& context) {
  Unregister command = unregister("d", 0, list);
  command.sequence = real_order(o).sequence;
  command.revision = real_order(o).revision;
  const Answer answer = ask(row, command, context);

  std::set<TableRow> met;
  std::array<NaiveTarget, kNaiveTargets> after = row.targets;
  for (std::uint8_t i = 0; i < kNaiveTargets; ++i) {
    if (!list.contains(TargetNumber(i))) continue;
    const std::optional<TableRow> one = the_one_row(restated(o, row, row.targets[i]));
    if (!one) return false;
    met.insert(*one);
    if (outcome_of(*one) == Outcome::kRemoved) after[i] = {o, NaiveState::kRemoved, row.targets[i].released};
  }
  for (const TableRow first : {TableRow::kU1, TableRow::kU3, TableRow::kU2, TableRow::kU4, TableRow::kU5})
    if (met.contains(first))
      return answer.decision.table_row == first && answer.decision.outcome == outcome_of(first) &&
             answer.targets == after;
  return false;
}

bool check_everything(NaiveOrder o, const NaiveRow& row, const Context& context) {
  Unregister command = unregister("d", 0, {});
  command.sequence = real_order(o).sequence;
  command.revision = real_order(o).revision;
  command.everything = true;
  const Answer answer = ask(row, command, context);

  bool pends = false;
  std::array<NaiveTarget, kNaiveTargets> after = row.targets;
  for (NaiveTarget& t : after) {
    if (t.newest != o || t.state != NaiveState::kPending) continue;
    pends = true;
    t.state = NaiveState::kRemoved;
  }
  const bool behind = row.exists() && (older(o, row.barrier) || older(o, row.newest()));
  const RestatedTable table = {{TableRow::kU1, pends},
                               {TableRow::kU2, !pends && row.is_group(o)},
                               {TableRow::kU4, !pends && !row.is_group(o) && behind},
                               {TableRow::kU5, !pends && !row.is_group(o) && !behind}};
  const std::optional<TableRow> one = the_one_row(table);
  return one && answer.decision.table_row == *one && answer.decision.outcome == outcome_of(*one) &&
         answer.targets == after;
}

TEST(UnregisterTable, EveryTargetMeetsExactlyOneRowAndTheFirstOfThemIsTheOutcome) {
  const Context context = two_targets();
  for_each_row(false, [&](const NaiveRow& row) {
    for (const NaiveOrder o : {1, 2, 3, 4})
      for (const unsigned list : {1U, 2U, 3U})
        if (!check_list(o, TargetSet(list), row, context))
          ADD_FAILURE() << "unregister order " << o << " targets " << list << " on " << text_of(row);
  });
}

TEST(UnregisterTable, AStarMeetsExactlyOneRowAndRemovesWhatIsPendingAtItsOrder) {
  const Context context = two_targets();
  for_each_row(false, [&](const NaiveRow& row) {
    for (const NaiveOrder o : {1, 2, 3, 4})
      if (!check_everything(o, row, context))
        ADD_FAILURE() << "unregister order " << o << " everything on " << text_of(row);
  });
}

}  // namespace
}  // namespace reseq::engine
