#include "one_row.h"

namespace reseq::engine {

Answer ask(const NaiveRow& row, const Command& command, const Context& context) {
  MapState state;
  if (row.exists()) state.rows.emplace("d", real_row(row));
  Batch batch(state, state.partition, context);
  if (batch.decide(command, Offset(9), true) != Taken::kDecided) return {};
  batch.close();
  state.commit(batch);

  Answer answer;
  answer.decision = batch.decisions()[0];
  for (const Emission& emission : batch.emissions())
    if (const Forward* forward = std::get_if<Forward>(&emission.what)) answer.forwarded |= forward->targets;
  if (const auto after = state.rows.find("d"); after != state.rows.end()) {
    answer.targets = targets_of(after->second);
    answer.barrier = after->second.barrier;
  }
  return answer;
}

std::optional<TableRow> the_one_row(const RestatedTable& table) {
  std::optional<TableRow> one;
  for (const auto& [row, holds] : table) {
    if (!holds) continue;
    if (one) return std::nullopt;
    one = row;
  }
  return one;
}

std::string text_of(const NaiveRow& row) {
  static constexpr const char* kStates[] = {"never", "pending", "served", "removed"};
  std::string text = row.exists() ? "row" : "no row";
  for (const NaiveTarget& t : row.targets)
    text += " [" + std::string(kStates[static_cast<std::size_t>(t.state)]) + " at " + std::to_string(t.newest) +
            ", released " + std::to_string(t.released) + "]";
  text += " barrier " + std::to_string(row.barrier) + " requested " + std::to_string(row.requested) + " marks ";
  for (const bool mark : row.was_requested) text += mark ? '1' : '0';
  return text;
}

}  // namespace reseq::engine
