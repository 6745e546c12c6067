#include "engine/rows.h"

#include <algorithm>
#include <cstdint>

namespace reseq::engine {

std::optional<std::string_view> Rows::find(std::string_view key) const {
  const auto changed = changed_.find(key);
  return changed != changed_.end() ? changed->second.value : view_.row(key);
}

// Committed rows in order, and between them those that the batch changed. A committed row that was changed is passed
// over: so more of them than asked for may have to be looked at.
void Rows::scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max, const RowVisit& visit) const {
  auto changed = cursor < prefix ? changed_.lower_bound(prefix) : changed_.upper_bound(cursor);
  const auto is_ours = [&] { return changed != changed_.end() && changed->first.starts_with(prefix); };
  std::size_t left = rows_max;
  bool wanted = left > 0;
  const auto show = [&](std::string_view key, std::string_view value) { wanted = visit(key, value) && --left > 0; };
  const auto show_changed_until = [&](std::optional<std::string_view> key) {
    for (; wanted && is_ours() && (!key || changed->first < *key); ++changed)
      if (changed->second.value) show(changed->first, *changed->second.value);
  };
  if (!wanted) return;
  const std::size_t looked_at = rows_max + std::min(changed_.size(), SIZE_MAX - rows_max);
  view_.scan(prefix, cursor, looked_at, [&](std::string_view key, std::string_view value) {
    show_changed_until(key);
    if (wanted && !changed_.contains(key)) show(key, value);
    return wanted;
  });
  show_changed_until(std::nullopt);
}

Rows::Changed& Rows::change(std::string_view key) {
  const auto known = changed_.find(key);
  if (known != changed_.end()) return known->second;
  const std::string_view kept = bytes_.copy(key);
  order_.push_back(kept);
  return changed_.emplace(kept, Changed{std::nullopt, view_.row(kept).has_value()}).first->second;
}

void Rows::put(std::string_view key, std::string_view value) {
  change(key).value = bytes_.copy(value);
}

void Rows::remove(std::string_view key) {
  change(key).value = std::nullopt;
}

std::vector<KeyedChange> Rows::changes() const {
  std::vector<KeyedChange> changes;
  changes.reserve(order_.size());
  for (const std::string_view key : order_) {
    const Changed& one = changed_.find(key)->second;
    if (one.value || one.committed) changes.push_back({key, one.value});
  }
  return changes;
}

}  // namespace reseq::engine
