// The ways in which what waits can go wrong.
#include "tests/property/wrong_gates.h"

#include <algorithm>
#include <utility>

#include "codec/held_rows.h"
#include "codec/keys.h"
#include "tests/gate/window_gate.h"
#include "tests/property/model.h"

namespace reseq::property {
namespace {

bool is_of(std::string_view key, codec::KeyType type) {
  return !key.empty() && key.front() == static_cast<char>(type);
}

// Where the forward of the n-th that was let through is; none: nobody waits for it.
std::vector<Emission>::iterator forward_of(Decided& decided, std::size_t n) {
  const std::size_t input = decided.decisions.size() + n;
  return std::find_if(decided.emissions.begin(), decided.emissions.end(),
                      [&](const Emission& each) { return each.input.value() == input; });
}

gate::Note note_of(const Rows& rows, const std::string& key) {
  const auto held = codec::decode_held(key, rows.others.row(key).value_or(""));
  const auto* row = std::get_if<codec::HeldRow>(&held);
  return row != nullptr ? gate::decode_note(row->note) : gate::Note{std::string(kIds[0]), {}};
}

// Calls change(n) for each that was let through.
template <typename Change>
Corruption every_let_through(Change change) {
  return [change](Decided& decided, const Plan&, const Rows& rows) {
    for (std::size_t n = 0; n < decided.let_through.size(); ++n) change(decided, rows, n);
  };
}

// W1
void lose_held(Decided& decided, const Plan&, const Rows&) {
  std::erase_if(decided.others, [](const OtherRow& row) { return is_of(row.key, codec::KeyType::kHeld) && row.value; });
}

void send_twice(Decided& decided, const Rows&, std::size_t n) {
  if (const auto forward = forward_of(decided, n); forward != decided.emissions.end())
    decided.emissions.push_back(Emission(*forward));
}

void send_last_first(Decided& decided, const Plan&, const Rows&) {
  const std::size_t last = decided.let_through.size();
  if (last < 2) return;
  std::swap(decided.let_through[last - 2], decided.let_through[last - 1]);
  const InputIndex a(static_cast<std::uint32_t>(decided.decisions.size() + last - 2));
  const InputIndex b(a.value() + 1);
  for (Emission& emission : decided.emissions)
    if (emission.input == a || emission.input == b) emission.input = emission.input == a ? b : a;
  for (Event& event : decided.events)
    if (event.input == a || event.input == b) event.input = event.input == a ? b : a;
}

// W2: as if the request came when it is let through.
void take_for_newest(Decided& decided, const Rows& rows, std::size_t n) {
  const gate::Note note = note_of(rows, decided.let_through[n]);
  const std::size_t document = document_of(note.id);
  const auto changed = std::find_if(decided.changes.begin(), decided.changes.end(),
                                    [&](const ChangedRow& each) { return each.document == document; });
  std::optional<Row> row = changed != decided.changes.end() ? changed->row : rows[document];
  if (!row || row->groups.empty() || row->groups.front().order <= note.forward.order) return;
  row->groups.clear();
  row->groups.push_back({note.forward.order, true, note.forward.targets, {}, {}});
  if (changed != decided.changes.end())
    changed->row = row;
  else
    decided.changes.push_back({document, row});
}

void send_what_nobody_waits_for(Decided& decided, const Rows& rows, std::size_t n) {
  if (forward_of(decided, n) != decided.emissions.end()) return;
  const InputIndex input(static_cast<std::uint32_t>(decided.decisions.size() + n));
  decided.emissions.push_back({input, note_of(rows, decided.let_through[n]).forward});
}

// W3
void keep_what_was_sent(Decided& decided, const Plan&, const Rows&) {
  std::erase_if(decided.others,
                [](const OtherRow& row) { return is_of(row.key, codec::KeyType::kHeld) && !row.value; });
}

void forget_to_send(Decided& decided, const Rows&, std::size_t n) {
  if (const auto forward = forward_of(decided, n); forward != decided.emissions.end()) decided.emissions.erase(forward);
}

// W9
std::vector<Emission>::iterator letter_of(Decided& decided, std::size_t n) {
  const std::size_t input = decided.decisions.size() + n;
  return std::find_if(decided.emissions.begin(), decided.emissions.end(), [&](const Emission& each) {
    return each.input.value() == input && std::holds_alternative<DeadLetter>(each.what);
  });
}

void forget_the_letter(Decided& decided, const Rows&, std::size_t n) {
  if (const auto letter = letter_of(decided, n); letter != decided.emissions.end()) decided.emissions.erase(letter);
}

void let_wait(Decided& decided, const Rows& rows, std::size_t n) {
  if (letter_of(decided, n) == decided.emissions.end()) return;
  const std::size_t document = document_of(note_of(rows, decided.let_through[n]).id);
  std::erase_if(decided.changes, [&](const ChangedRow& each) { return each.document == document; });
}

WrongEngine hidden(Corruption corrupt) {
  WrongEngine engine;
  engine.corrupt = std::move(corrupt);
  engine.judged = Judged::kOutcomes;
  return engine;
}

}  // namespace

std::vector<NamedWrongEngine> gates_that_spoil() {
  WrongEngine never;
  never.turns_early = Milliseconds(-1'000'000'000);
  return {
      {"loses what it holds", hidden(lose_held)},
      {"takes what it lets through for the newest", hidden(every_let_through(take_for_newest))},
      {"never lets anything through", never},
      {"keeps rows of what it let through", hidden(keep_what_was_sent)},
      {"lets something through without sending it", hidden(every_let_through(forget_to_send))},
  };
}

std::vector<NamedWrongEngine> untruthful_gates() {
  WrongEngine early;
  early.turns_early = Milliseconds(kWindowMs / 2);
  WrongEngine greedy;
  greedy.ignores_bytes = true;
  WrongEngine pretending;
  pretending.sends_what_is_gone = true;
  WrongEngine waiting;
  waiting.corrupt = every_let_through(let_wait);
  WrongEngine hasty;
  hasty.ignores_rows = true;
  return {
      {"sends twice what it held", hidden(every_let_through(send_twice))},
      {"lets the last of a window through first", hidden(send_last_first)},
      {"sends what nobody waits for", hidden(every_let_through(send_what_nobody_waits_for))},
      {"lets something through before its time", early},
      {"sends what is gone", pretending},
      {"gives up what is gone without a word", hidden(every_let_through(forget_the_letter))},
      {"lets something wait for what is gone", waiting},
      {"lets more bytes through than a batch has room for", greedy},
      {"lets more rows through than a turn has room for", hasty},
  };
}

}  // namespace reseq::property
