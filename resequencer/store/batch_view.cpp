#include "store/batch_view.h"

namespace reseq::store {

engine::Lookup BatchView::find(DocumentId id) const {
  const auto place = static_cast<std::uint32_t>(looked_up_.size());
  engine::Lookup found = store_.look_up(id, keys_, looked_up_.emplace_back());
  found.place = place;
  return found;
}

}  // namespace reseq::store
