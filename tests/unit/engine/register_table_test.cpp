// Every request and REGISTER of a small world on every row of it: exactly one row of table R holds, as its text words
// it, it is the one the engine chose, and what the engine did is what that row says.
#include <algorithm>
#include <gtest/gtest.h>

#include "one_row.h"

namespace reseq::engine {
namespace {

enum class Asks : unsigned char { kFirst, kSecond, kBoth, kRoutes, kDeleteForAll };
constexpr Asks kAllAsks[] = {Asks::kFirst, Asks::kSecond, Asks::kBoth, Asks::kRoutes, Asks::kDeleteForAll};

struct RequestQuestion {
  NaiveOrder order = 0;
  Asks asks = Asks::kBoth;
  bool is_request = false;
  bool reprocess = false;
  bool other_payload = false;
  bool asks_for_the_same = false;  // as the newest requested order; else nobody compares
};

// Routes lead to the first target, all targets are both.
Context small_world() {
  Context context = two_targets();
  context.default_targets = TargetSet(1);
  return context;
}

Command command_of(const RequestQuestion& q) {
  Request request = reseq::engine::request("d", 0);
  request.what.sequence = real_order(q.order).sequence;
  if (q.asks <= Asks::kBoth) request.what.targets = TargetSet(static_cast<std::uint64_t>(q.asks) + 1);
  if (q.asks == Asks::kDeleteForAll) request.what.op = Op::kDelete;
  request.reprocess = q.reprocess;
  request.hash = PayloadHash(q.other_payload ? 2 : 1);
  static const Wish kSame = [] {
    Wish wish;
    wish.content = kNaiveContent;
    return wish;
  }();
  if (q.asks_for_the_same) request.wish = &kSame;
  if (q.is_request) return request;
  request.what.revision = real_order(q.order).revision;
  return Register{request.what};
}

using Bits = std::array<bool, kNaiveTargets>;

// T of the table, target by target.
Bits asked(const RequestQuestion& q, const NaiveRow& row) {
  const auto known = [&](std::size_t i) { return row.targets[i].newest != 0; };
  switch (q.asks) {
    case Asks::kFirst:
    case Asks::kRoutes:
      return {true, false};
    case Asks::kSecond:
      return {false, true};
    case Asks::kBoth:
      return {true, true};
    default:
      return row.exists() ? Bits{true, known(1)} : Bits{true, true};
  }
}

// Targets that a reprocess of the newest (epoch, seq) takes; none when it is an ordinary request.
Bits reprocessed(const RequestQuestion& q, const NaiveRow& row) {
  Bits bits{};
  const int newest = sequence_number(row.newest());
  if (!q.reprocess || !row.exists() || sequence_number(q.order) != newest) return bits;
  for (std::size_t i = 0; i < kNaiveTargets; ++i) {
    const NaiveTarget& t = row.targets[i];
    const bool same = t.newest != 0 && sequence_number(t.newest) == newest;
    const bool left_behind = q.asks == Asks::kDeleteForAll && t.newest != 0 && !same;
    bits[i] = left_behind || (same && t.state != NaiveState::kRemoved);
  }
  return bits;
}

bool any(const Bits& bits) {
  return std::find(bits.begin(), bits.end(), true) != bits.end();
}

template <typename Predicate>
bool some(const Bits& asked_for, const NaiveRow& row, Predicate holds) {
  for (std::size_t i = 0; i < kNaiveTargets; ++i)
    if (asked_for[i] && holds(row.targets[i])) return true;
  return false;
}

bool late_at(const RequestQuestion& q, const NaiveRow& row, const NaiveTarget& t) {
  return q.is_request && row.is_group(q.order) && !row.was_requested[static_cast<std::size_t>(q.order)] &&
         t.newest == q.order && t.state == NaiveState::kPending;
}

RestatedTable restated(const RequestQuestion& q, const NaiveRow& row) {
  const Bits wanted = asked(q, row);
  const bool behind_barrier = row.barrier != 0 && older(q.order, row.barrier);
  const bool moves = some(wanted, row, [&](const auto& t) { return t.newest == 0 || older(t.newest, q.order); });
  const bool forwards_late = some({true, true}, row, [&](const auto& t) { return late_at(q, row, t); });
  const bool newer = some(wanted, row, [&](const auto& t) { return older(q.order, t.newest); });

  const bool r6 = any(reprocessed(q, row));
  const bool r0 = !r6 && behind_barrier;
  const bool r5 = !r6 && !r0 && q.is_request && row.exists() && row.requested == q.order && q.other_payload;
  const bool open = !r6 && !r0 && !r5;
  const bool all_have_it =
      !some(wanted, row, [&](const auto& t) { return t.newest != row.requested || t.state != NaiveState::kServed; });
  const bool r7 = open && q.asks_for_the_same && !q.reprocess && !q.other_payload && row.requested != 0 &&
                  older(row.requested, q.order) && all_have_it && !forwards_late;
  return {{TableRow::kR0, r0},
          {TableRow::kR1, open && !row.exists()},
          {TableRow::kR2, open && row.exists() && !r7 && (moves || forwards_late)},
          {TableRow::kR3, open && row.exists() && !moves && !forwards_late && !newer},
          {TableRow::kR4, open && row.exists() && !moves && !forwards_late && newer},
          {TableRow::kR5, r5},
          {TableRow::kR6, r6},
          {TableRow::kR7, r7}};
}

NaiveOrder next_revision(NaiveOrder newest) {
  return newest == 1 ? 6 : newest == 2 ? 3 : 5;
}

// What the row of the table says that the row of the document is afterwards, and what goes to `work`.
Answer expected(const RequestQuestion& q, const NaiveRow& row, TableRow table_row) {
  Answer answer;
  answer.targets = row.targets;
  if (row.barrier != 0) answer.barrier = real_order(row.barrier);
  if (table_row == TableRow::kR0 || table_row == TableRow::kR5) return answer;
  const bool is_reprocess = table_row == TableRow::kR6;
  const NaiveOrder order = is_reprocess ? next_revision(row.newest()) : q.order;
  const Bits wanted = is_reprocess ? reprocessed(q, row) : asked(q, row);
  if (q.asks == Asks::kDeleteForAll && (row.barrier == 0 || older(row.barrier, order)))
    answer.barrier = real_order(order);
  for (std::size_t i = 0; i < kNaiveTargets; ++i) {
    NaiveTarget& t = answer.targets[i];
    const bool late = !is_reprocess && row.exists() && late_at(q, row, t);
    const bool moved = wanted[i] && (t.newest == 0 || older(t.newest, order));
    if (moved && table_row == TableRow::kR7) t = {order, NaiveState::kServed, order};
    if (moved && table_row == TableRow::kR7) continue;
    if (moved) t = {order, NaiveState::kPending, t.released};
    if (q.is_request && (late || moved)) answer.forwarded |= TargetSet::of(TargetNumber(static_cast<std::uint8_t>(i)));
  }
  return answer;
}

bool check(const RequestQuestion& q, const NaiveRow& row, const Context& context) {
  const std::optional<TableRow> one = the_one_row(restated(q, row));
  const Answer answer = ask(row, command_of(q), context);
  if (!one || *one != answer.decision.table_row) return false;
  const Answer should = expected(q, row, *one);
  return answer.targets == should.targets && answer.forwarded == should.forwarded && answer.barrier == should.barrier;
}

std::string text_of(const RequestQuestion& q) {
  return std::string(q.is_request ? "request" : "register") + " order " + std::to_string(q.order) + " asks " +
         std::to_string(static_cast<int>(q.asks)) + (q.reprocess ? " reprocess" : "") +
         (q.other_payload ? " other payload" : "") + (q.asks_for_the_same ? " asks for the same" : "");
}

TEST(RegisterTable, EveryRequestMeetsExactlyOneRowWhichTheEngineChose) {
  const Context context = small_world();
  for_each_row(true, [&](const NaiveRow& row) {
    for (const NaiveOrder order : {1, 2, 4})
      for (const Asks asks : kAllAsks)
        for (const bool reprocess : {false, true})
          for (const bool other_payload : {false, true})
            for (const bool same : {false, true}) {
              const RequestQuestion q{order, asks, true, reprocess, other_payload, same};
              if (!check(q, row, context)) ADD_FAILURE() << text_of(q) << " on " << text_of(row);
            }
  });
}

TEST(RegisterTable, EveryRegisterCommandMeetsExactlyOneRowWhichTheEngineChose) {
  const Context context = small_world();
  for_each_row(false, [&](const NaiveRow& row) {
    for (const NaiveOrder order : {1, 2, 3, 4})
      for (const Asks asks : kAllAsks) {
        const RequestQuestion q{order, asks, false, false, false, false};
        if (!check(q, row, context)) ADD_FAILURE() << text_of(q) << " on " << text_of(row);
      }
  });
}

}  // namespace
}  // namespace reseq::engine
