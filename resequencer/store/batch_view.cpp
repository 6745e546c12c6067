#include "store/batch_view.h"

namespace reseq::store {

engine::Lookup BatchView::find(DocumentId id) const {
  const auto place = static_cast<std::uint32_t>(looked_up_.size());
  engine::Lookup found = store_.look_up(id, keys_, looked_up_.emplace_back());
  found.place = place;
  return found;
}

engine::KeyedLookup BatchView::find_row(std::string_view key) const {
  const auto place = static_cast<std::uint32_t>(looked_up_rows_.size());
  const LookedUpRow& found = looked_up_rows_.emplace_back(store_.look_up_row(key, keys_));
  return {found.value, place};
}

}  // namespace reseq::store
