#include "engine/rows.h"

#include <algorithm>

#include "base/id_hash.h"

namespace reseq::engine {

// What was looked up stays where it is until the next is.
Rows::Known& Rows::at(std::string_view key) const {
  const std::uint64_t hash = IdHash()(key);
  const std::uint32_t found = index_.find(hash, [&](std::uint32_t number) { return known_[number].key == key; });
  if (found != HashIndex::kNone) return known_[found];
  const KeyedLookup looked_up = view_.find_row(key);
  index_.add(hash, static_cast<std::uint32_t>(known_.size()));
  return known_.emplace_back(
      Known{bytes_.copy(key), looked_up.value, looked_up.place, looked_up.value.has_value(), false});
}

// Committed rows in order, and between them those that the batch changed. A committed row that was changed is passed
// over: so more of them than asked for may have to be looked at.
void Rows::scan(std::string_view prefix, std::string_view cursor, std::size_t rows_max, const RowVisit& visit) const {
  std::vector<KeyedChange> changed;  // a visit may look up others
  for (const std::uint32_t number : order_)
    if (known_[number].key.starts_with(prefix) && known_[number].key > cursor)
      changed.push_back({known_[number].key, known_[number].value});
  std::sort(changed.begin(), changed.end(), [](const KeyedChange& a, const KeyedChange& b) { return a.key < b.key; });
  auto next = changed.begin();
  std::size_t left = rows_max;
  bool wanted = left > 0;
  const auto show = [&](std::string_view key, std::string_view value) { wanted = visit(key, value) && --left > 0; };
  const auto show_changed_until = [&](std::optional<std::string_view> key) {
    for (; wanted && next != changed.end() && (!key || next->key < *key); ++next)
      if (next->value) show(next->key, *next->value);
  };
  if (!wanted) return;
  const std::size_t looked_at = rows_max + std::min(changed.size(), SIZE_MAX - rows_max);
  view_.scan(prefix, cursor, looked_at, [&](std::string_view key, std::string_view value) {
    show_changed_until(key);
    const bool is_changed = next != changed.end() && next->key == key;
    if (wanted && !is_changed) show(key, value);
    return wanted;
  });
  show_changed_until(std::nullopt);
}

Rows::Known& Rows::change(std::string_view key) {
  Known& known = at(key);
  if (!known.changed) order_.push_back(static_cast<std::uint32_t>(&known - known_.data()));
  known.changed = true;
  return known;
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
  for (const std::uint32_t number : order_) {
    const Known& one = known_[number];
    if (one.value || one.committed) changes.push_back({one.key, one.value, one.place});
  }
  return changes;
}

}  // namespace reseq::engine
