// Tagger: makes a record of `requests` out of a change: key = id, headers reseq-seq, reseq-op, reseq-targets,
// reseq-epoch, reseq-priority, reseq-process-at, reseq-expires-at. What the resequencer would dead-letter is refused
// here, where the producer can still repair it. Invariant: the record says exactly what the change says; a header is
// left out only where its absence means the same. Thread rule: any thread.
#pragma once

#include <utility>

#include "base/result.h"
#include "producers/tagging/change.h"
#include "producers/tagging/tagged_record.h"

namespace reseq::tagging {

class Tagger {
 public:
  // `kind` is the kind the application is configured with. `usual`: of changes that do not say it themselves; deletes
  // do not expire.
  explicit Tagger(SequenceKind kind, Turn usual = {}) : kind_(kind), usual_(std::move(usual)) {}

  // kInvalid with a one-line reason: id empty or too long, sequence not of the kind, upsert without payload, a bad
  // target name, a bad date, a delete that expires. The record points into `change`, which must outlive it.
  [[nodiscard]] Result<TaggedRecord> tag(const Change& change) const;

 private:
  SequenceKind kind_;
  Turn usual_;
};

}  // namespace reseq::tagging
