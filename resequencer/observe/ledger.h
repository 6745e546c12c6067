// Ledger: what the resequencer would have known of the documents of a pipeline that runs without it. Each record is one
// engine::Batch over a store of its own, with the record's timestamp as the time, and the decision tables of
// docs/decisions as they are. All targets are `monotonic` here, so that a result counts as written when
// nothing newer was written, whatever requests were read before it; a result whose order no request announced is
// registered by the ledger itself. So what is compared is results with results, in the order of the output's log.
//
// Invariants: nothing leaves it but counts; the tally and the rows are saved together or not at all.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/batch.h"
#include "engine/context.h"
#include "observe/tally.h"
#include "observe/wrong_now.h"
#include "store/partition_store.h"

namespace reseq::observe {

class Ledger {
 public:
  // Taken up from what the store holds, or begun in an empty one. `context`: targets, routes, intake; the rest is set
  // here. `wrong`: what is overwritten is noted, for tell_wrong_now(). kInvalid: what the store holds cannot be read.
  static Result<std::unique_ptr<Ledger>> open(std::unique_ptr<store::PartitionStore> store, engine::Context context,
                                              const TargetTable& targets, SequenceKind kind, bool wrong = false);

  // Where a record stands.
  struct Source {
    Partition partition;
    Offset offset;
    UnixMs timestamp;
  };

  // A record of the input.
  void request(const Command& command, const Source& source);
  // A record of the output. False: it met no request; nothing was counted. Read the requests that may stand before it,
  // then ask again with `final`, which always counts it.
  [[nodiscard]] bool result(const Command& command, const Source& source, bool final);

  // Every document that is wrong now, in a pass over all rows. REQUIRES: opened with `wrong`. Look at fault()
  // afterwards: what was told before it is right, and not all.
  WrongCounts tell_wrong_now(const WrongLine& line) const;

  // What is counted beside the decisions.
  [[nodiscard]] Tally& tally() { return tally_; }
  [[nodiscard]] const Tally& tally() const { return tally_; }
  // Documents that wait for a result, and those that do not.
  [[nodiscard]] std::uint64_t waiting() const { return store_->summary().counts[Count::kLiveRows]; }
  [[nodiscard]] std::uint64_t answered() const { return store_->summary().counts[Count::kWatermarks]; }

  // Of all rows: changes with each of them.
  [[nodiscard]] Digest state_digest() const { return store_->summary().digest; }

  // Everything to disk in one LMDB transaction, with `note`: where the reader stands, in its own words. kRetriable:
  // the disk; nothing is lost.
  Result<> save(const Json& note);
  // Of the last save(), as it was found by open(); null when there is none.
  [[nodiscard]] const Json& note() const { return note_; }
  // Enough changed since the last save().
  [[nodiscard]] bool save_due(std::size_t rows_max) const { return store_->dirty_rows() >= rows_max; }
  // Makes what was saved survive the machine.
  Result<> sync() { return store_->sync_handle()->sync(); }
  // After it only destruction.
  Result<> close() { return store_->close_clean(); }
  // The store cannot be trusted any more.
  [[nodiscard]] const std::optional<Error>& fault() const { return store_->fault(); }

 private:
  Ledger(std::unique_ptr<store::PartitionStore> store, engine::Context context, SequenceKind kind, bool wrong)
      : store_(std::move(store)), context_(std::move(context)), kind_(kind), wrong_(wrong) {}
  Result<> begin(const TargetTable& targets);
  Result<> take_up();

  struct Settled {
    engine::Taken answer = engine::Taken::kDecided;
    Decision decision;
  };
  Settled settle(const Command& command, const Source& source, bool requests_read);
  void count(const SequenceResult& result, const Decision& decision, const Row* before, UnixMs now);
  void count_stale(const SequenceResult& result, const Row& before, const Order& newest, UnixMs now);
  // The result that was written last is older than one before it, or is not any more.
  void note_last(const SequenceResult& result, bool overwrites, UnixMs now);
  void apply(std::vector<store::Change>& rows);

  std::unique_ptr<store::PartitionStore> store_;
  engine::Context context_;
  SequenceKind kind_;
  bool wrong_;
  Tally tally_;
  Json note_;
  std::map<Partition, Epoch> default_epochs_;  // those above 0
  std::int64_t next_ = 0;                      // number of the next change: the store counts them as offsets
};

}  // namespace reseq::observe
