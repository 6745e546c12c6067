#include "engine/overlay.h"

#include <utility>

#include "engine/apply.h"

namespace reseq::engine {

Document& Overlay::find(DocumentId id) {
  const auto [place, is_new] = documents_.try_emplace(id);
  Document& document = place->second;
  if (is_new) {
    Lookup found = view_.find(id);
    document.id = id;
    document.row = std::move(found.row);
    document.collision = found.collision;
  }
  return document;
}

Document& Overlay::find_copied(DocumentId id) {
  const auto place = documents_.find(id);
  return place != documents_.end() ? place->second : find(ids_.copy(id));
}

void Overlay::change(Document& document, const RowEdit& edit, const Context& context) {
  RESEQ_ASSERT(!edit.nothing(), "a change that changes nothing");
  apply(edit, context, document.row);
  note_change(document);
}

bool Overlay::mark_overdue(Document& document, UnixMs now) {
  if (document.collision || !document.row) return false;
  Row& row = *document.row;
  const bool due = row.deadline != UnixMs{} && row.deadline <= now;
  if (!due || row.overdue || row.completed()) return false;
  row.overdue = true;
  note_change(document);
  return true;
}

void Overlay::expire(Document& document, UnixMs now) {
  if (document.collision || !document.row || !document.row->completed()) return;
  if (document.row->deadline == UnixMs{} || document.row->deadline > now) return;
  document.row.reset();
  note_change(document);
}

void Overlay::note_change(Document& document) {
  if (!document.changed) changed_.push_back(&document);
  document.changed = true;
}

std::vector<RowChange> Overlay::take_changes() {
  std::vector<RowChange> changes;
  changes.reserve(changed_.size());
  for (Document* document : changed_) changes.push_back({document->id, std::move(document->row)});
  return changes;
}

}  // namespace reseq::engine
