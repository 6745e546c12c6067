#include "store/row_write.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "codec/row_kinds.h"
#include "codec/rows.h"
#include "store/index_key.h"
#include "store/timer.h"

namespace reseq::store {

namespace {

Result<> write_index_keys(Environment::Write& write, std::string_view key, std::optional<std::string_view> old,
                          std::optional<std::string_view> fresh) {
  std::set<std::string> gone;
  std::set<std::string> added;
  if (old) each_index_key(key, *old, [&](const std::string& one) { gone.insert(one); });
  if (fresh)
    each_index_key(key, *fresh, [&](const std::string& one) {
      if (gone.erase(one) == 0) added.insert(one);
    });
  for (const std::string& one : gone)
    if (auto removed = write.remove(Table::kTimers, one); !removed) return removed;
  for (const std::string& one : added)
    if (auto put = write.put(Table::kTimers, one, {}); !put) return put;
  return Done{};
}

Result<> write_timer(Environment::Write& write, std::string_view key, std::optional<UnixMs> old,
                     std::optional<UnixMs> fresh) {
  if (old == fresh) return Done{};
  std::string timer;
  if (old) {
    append_timer_key({*old, key}, timer);
    if (auto removed = write.remove(Table::kTimers, timer); !removed) return removed;
    timer.clear();
  }
  if (!fresh) return Done{};
  append_timer_key({*fresh, key}, timer);
  return write.put(Table::kTimers, timer, {});
}

}  // namespace

Error damaged_row() {
  return {ErrorClass::kInvalid, 0, "state: a row on disk fails its checksum"};
}

Result<> write_row(Environment::Write& write, const MemoryTable::Entry& entry, bool is_new) {
  const std::string_view key = entry.key();
  const std::optional<std::string_view> value = entry.value();
  std::optional<std::string_view> old;
  if (!is_new) {
    const auto found = write.get(Table::kRows, key);
    if (!found) return found.error();
    old = found.value();
  }
  if (old && !codec::is_intact(key, *old)) return damaged_row();
  const auto old_timer = old ? codec::timer_of(key, *old) : std::nullopt;
  if (old == value) return Done{};
  const codec::RowKind* const kind = codec::row_kind_of(key);
  const auto may_have_entries = [&](std::optional<std::string_view> row) {
    return row && kind != nullptr && codec::may_have_entries(*kind, *row);
  };
  if (may_have_entries(old) || may_have_entries(value))
    if (auto indexed = write_index_keys(write, key, old, value); !indexed) return indexed;
  Result<> changed = value ? write.put(Table::kRows, key, *value) : write.remove(Table::kRows, key);
  if (!changed) return changed;
  return write_timer(write, key, old_timer, entry.timer());
}

}  // namespace reseq::store
