#include "engine/overlay.h"

#include <memory>
#include <new>

#include "base/id_hash.h"
#include "engine/documents/apply.h"

namespace reseq::engine {

namespace {

// All in one place: of nearly every document nothing is on the heap.
[[gnu::flatten]] void destroy(const std::vector<Document*>& documents) {
  for (Document* document : documents) std::destroy_at(document);
}

}  // namespace

Overlay::~Overlay() {
  destroy(documents_);
}

Document* Overlay::known(DocumentId id, std::uint64_t hash) const {
  const std::uint32_t number =
      index_.find(hash, [&](std::uint32_t candidate) { return documents_[candidate]->id == id; });
  return number == HashIndex::kNone ? nullptr : documents_[number];
}

// The row is made in its place: it is some hundred bytes.
Document& Overlay::add(DocumentId id, std::uint64_t hash) {
  void* const place = memory_.allocate(sizeof(Document), alignof(Document));
  documents_.push_back(new (place) Document(view_, id));
  index_.add(hash, static_cast<std::uint32_t>(documents_.size() - 1));
  Document& document = *documents_.back();
  if (document.now.row && !document.now.row->journal.empty()) note_before(document);
  return document;
}

void Overlay::note_before(Document& document) {
  add_journaled(document, document.now.row->journal);
}

void Overlay::add_journaled(Document& document, const RareList<JournalEntry>& before) {
  document.journaled = true;
  document.journaled_at = static_cast<std::uint32_t>(journaled_.size());
  journaled_.push_back({&document, before});
}

Document& Overlay::find(DocumentId id) {
  const std::uint64_t hash = IdHash()(id);
  Document* document = known(id, hash);
  return document != nullptr ? *document : add(id, hash);
}

Document& Overlay::find_copied(DocumentId id) {
  const std::uint64_t hash = IdHash()(id);
  Document* document = known(id, hash);
  return document != nullptr ? *document : add(ids_.copy(id), hash);
}

void Overlay::change(Document& document, const RowEdit& edit, const Context& context) {
  RESEQ_ASSERT(!edit.nothing(), "a change that changes nothing");
  apply(edit, context, document.now.row);
  note_change(document);
}

void Overlay::settle(Document& document, const Context& context) {
  engine::settle(*document.now.row, context);
  note_change(document);
}

bool Overlay::mark_overdue(Document& document, UnixMs now) {
  if (document.now.collision || !document.now.row) return false;
  Row& row = *document.now.row;
  const bool due = row.deadline != UnixMs{} && row.deadline <= now;
  if (!due || row.overdue || row.completed()) return false;
  row.overdue = true;
  note_change(document);
  return true;
}

void Overlay::note_forwarded(Document& document, const Order& order, TargetSet targets) {
  if (!document.now.row || !document.now.row->requested || document.now.row->requested->order != order) return;
  TargetSet& noted = document.now.row->requested->forwarded;
  if (noted == targets) return;
  noted = targets;
  note_change(document);
}

void Overlay::expire(Document& document, UnixMs now) {
  if (document.now.collision || !document.now.row || document.now.row->live()) return;
  if (document.now.row->deadline == UnixMs{} || document.now.row->deadline > now) return;
  document.now.row.reset();
  note_change(document);
}

void Overlay::note_change(Document& document) {
  if (!document.changed) changed_.push_back(&document);
  document.changed = true;
}

std::vector<RowChange> Overlay::changes() const {
  std::vector<RowChange> changes;
  changes.reserve(changed_.size());
  for (const Document* document : changed_) changes.push_back({document->id, document->known(), document->now.place});
  return changes;
}

}  // namespace reseq::engine
