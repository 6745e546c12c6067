// Overlay: the rows that a running batch has looked at, as they stand after the decisions made so far, above the
// committed state.
// Invariants: a row is read from the state at most once; a document keeps its address; output order is the order of
// first change, never the order of the hash table. Thread rule: one thread.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "base/arena.h"
#include "base/hash_index.h"
#include "engine/context.h"
#include "engine/ruling.h"
#include "engine/standing.h"
#include "engine/state_view.h"

namespace reseq::engine {

struct Document {
  Document(const StateView& view, DocumentId document) : now(view.find(document)), id(document) {}

  Lookup now;  // what was looked up, as it stands after the decisions made so far
  DocumentId id;
  bool changed = false;                                   // differs from the committed row
  bool journaled = false;                                 // Overlay::journaled() has it,
  std::uint32_t journaled_at = 0;                         // here
  boost::container::small_vector<std::uint32_t, 2> sent;  // emissions of this batch that forward one of its requests

  [[nodiscard]] const Row* known() const { return now.row ? &*now.row : nullptr; }
  [[nodiscard]] std::optional<Order> newest_order() const {
    const Order* newest = engine::newest_order(known());
    return newest != nullptr ? std::optional(*newest) : std::nullopt;
  }
};

class Overlay {
 public:
  // REQUIRES: view outlives the overlay.
  explicit Overlay(const StateView& view) : view_(view) {}
  ~Overlay();
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // Room for so many documents, before the first.
  void expect(std::size_t documents) {
    documents_.reserve(documents);
    changed_.reserve(documents);
    index_.expect(documents);
  }

  // REQUIRES: the bytes of `id` outlive the overlay.
  [[nodiscard]] Document& find(DocumentId id);
  // The same for an id whose bytes may go away: they are copied when the document is new here.
  [[nodiscard]] Document& find_copied(DocumentId id);

  // REQUIRES: !edit.nothing()
  void change(Document& document, const RowEdit& edit, const Context& context);
  // Marks a live row whose deadline has passed. False = there is nothing to mark.
  [[nodiscard]] bool mark_overdue(Document& document, UnixMs now);

  // The row was changed in another way: what follows from that is made right. REQUIRES: it is there.
  void settle(Document& document, const Context& context);

  // Documents that have a journal, or had one before the batch, with what it was then.
  struct Journaled {
    Document* document;
    RareList<JournalEntry> before;
  };
  [[nodiscard]] const std::vector<Journaled>& journaled() const { return journaled_; }
  // Documents in the order in which they were changed first.
  [[nodiscard]] const std::vector<Document*>& changed() const { return changed_; }
  // It gets one. REQUIRES: it had none.
  void note_journal(Document& document) {
    if (!document.journaled) add_journaled(document, {});
  }

  // What is known of the newest request says to which targets it was sent last. Another request is not touched.
  void note_forwarded(Document& document, const Order& order, TargetSet targets);

  // Removes a completed row whose deadline has passed.
  void expire(Document& document, UnixMs now);

  // REQUIRES: nothing is looked up or changed after it. The rows live as long as this.
  [[nodiscard]] std::vector<RowChange> changes() const;

 private:
  [[nodiscard]] Document* known(DocumentId id, std::uint64_t hash) const;
  Document& add(DocumentId id, std::uint64_t hash);
  void note_change(Document& document);
  [[gnu::noinline]] void note_before(Document& document);
  void add_journaled(Document& document, const RareList<JournalEntry>& before);

  const StateView& view_;
  Arena ids_;
  std::pmr::monotonic_buffer_resource memory_;  // of the documents
  std::vector<Document*> documents_;
  HashIndex index_;  // of documents_
  std::vector<Document*> changed_;
  std::vector<Journaled> journaled_;
};

}  // namespace reseq::engine
