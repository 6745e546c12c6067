// Every result of a small world on every row of it: exactly one row of table S holds, as its text words it, it is the
// one the engine chose, and what the engine did is what that row says.
#include <gtest/gtest.h>

#include "one_row.h"

namespace reseq::engine {
namespace {

struct ResultQuestion {
  NaiveOrder order = 0;
  std::uint8_t target = 0;
  bool monotonic = false;
  bool too_large = false;
};

struct Restatement {
  RestatedTable table;
  bool releases = false;
  bool removes = false;
};

Restatement restated(const ResultQuestion& q, const NaiveRow& row) {
  const NaiveTarget& t = row.targets[q.target];
  const NaiveOrder o = q.order;
  const bool below = row.barrier != 0 && older(o, row.barrier);
  const bool behind = below || (t.newest != 0 && older(o, t.newest));
  const bool here = !below && t.newest == o;
  const bool s1 = here && t.state == NaiveState::kPending;
  const bool rises = t.state == NaiveState::kPending && !below && older(t.released, o);
  const bool monotonic = behind && !row.completed() && q.monotonic && rises;
  const bool s0 = q.too_large && (s1 || monotonic);
  const bool s2 = here && t.state == NaiveState::kServed;
  const bool s3 = !below && ((here && t.state == NaiveState::kRemoved) || (t.newest == 0 && row.is_group(o)));
  const bool s5 = !below && ((t.newest == 0 && !row.is_group(o)) || (t.newest != 0 && older(t.newest, o)));
  return {{{TableRow::kS0, s0},
           {TableRow::kS1, s1 && !q.too_large},
           {TableRow::kS2, s2},
           {TableRow::kS3, s3},
           {TableRow::kS4, behind && !row.completed() && !s0},
           {TableRow::kS5, s5},
           {TableRow::kS6, behind && row.completed()}},
          (s1 || monotonic) && !q.too_large,
          s1 && q.too_large};
}

Outcome outcome_of(TableRow row, bool releases) {
  if (releases) return Outcome::kReleased;
  const bool kept = row == TableRow::kS0 || row == TableRow::kS3 || row == TableRow::kS5;
  return kept ? Outcome::kDeadLettered : Outcome::kDropped;
}

bool check(const ResultQuestion& q, const NaiveRow& row) {
  Context context = two_targets();
  if (q.monotonic) context.monotonic = TargetSet::of(TargetNumber(q.target));
  if (q.too_large) context.output_bytes_max[q.target] = 10;
  SequenceResult command = result("d", 0, TargetNumber(q.target));
  command.sequence = real_order(q.order).sequence;
  command.revision = real_order(q.order).revision;
  command.output_bytes = 11;
  const Answer answer = ask(row, command, context);

  const Restatement should = restated(q, row);
  const std::optional<TableRow> one = the_one_row(should.table);
  std::array<NaiveTarget, kNaiveTargets> after = row.targets;
  NaiveTarget& t = after[q.target];
  if (should.releases) t.released = q.order;
  if (should.releases && t.newest == q.order) t.state = NaiveState::kServed;
  if (should.removes) t.state = NaiveState::kRemoved;
  return one && answer.decision.table_row == *one && answer.targets == after &&
         answer.decision.outcome == outcome_of(*one, should.releases);
}

TEST(SequenceTable, EveryResultMeetsExactlyOneRowWhichTheEngineChose) {
  for_each_row(false, [&](const NaiveRow& row) {
    for (const NaiveOrder order : {1, 2, 3, 4})
      for (const std::uint8_t target : {std::uint8_t{0}, std::uint8_t{1}})
        for (const bool monotonic : {false, true})
          for (const bool too_large : {false, true}) {
            const ResultQuestion q{order, target, monotonic, too_large};
            if (!check(q, row))
              ADD_FAILURE() << "result order " << order << " target " << int{target} << " monotonic " << monotonic
                            << " too large " << too_large << " on " << text_of(row);
          }
  });
}

}  // namespace
}  // namespace reseq::engine
