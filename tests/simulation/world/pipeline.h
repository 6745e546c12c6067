// Pipeline: the programs between `work` (in tap: `requests`) and `commands`. It takes its time, answers out of order
// and twice, gives up, loses work, forks late, and writes bad commands; what it neither loses nor gives up it delivers
// in the end. What it loses comes back where work has leases. Its readers are read_committed and copy all headers, as
// the contract says.
// Thread rule: one thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/simulation/world/producers.h"

namespace reseq::simulation {

using judge::Piece;

class Pipeline {
 public:
  Pipeline(const Scenario& scenario, Broker& broker, const Producers& producers, Counters& counters);

  // Takes what is new and writes what is due.
  void step();
  // Writes everything that waits, due or not. Where work comes back nothing is lost from now on.
  void deliver_all();
  [[nodiscard]] bool idle() const { return waiting_.empty() && !anything_new(); }

  // Whose result will perhaps never be released: lost, given up, too large, or never known to this pipeline.
  [[nodiscard]] bool excused(const Piece& piece) const { return excused_.contains(piece); }

 private:
  struct Answer {
    UnixMs due;
    Partition partition;
    StoredRecord record;
    std::optional<StoredRecord> then;  // waits until this one is written
  };

  [[nodiscard]] bool anything_new() const;
  void take(const StoredRecord& work, Partition partition);
  void take_target(const StoredRecord& work, const Piece& piece, Partition partition);
  [[nodiscard]] bool loses();
  void beat(const StoredRecord& work, Partition partition);
  void fail(const StoredRecord& work, const Piece& piece, Partition partition);
  // No document reaches it.
  [[nodiscard]] bool is_down(const std::string& target) const;
  void fail_of_target(const StoredRecord& work, const Piece& piece, Partition partition);
  void fork(const StoredRecord& work, const Piece& piece, Partition partition);
  void give_up_any(const StoredRecord& work, const Piece& piece, Partition partition);
  void write_bad(const StoredRecord& work, const Piece& piece, Partition partition);
  void answer(StoredRecord record, Partition partition, std::int64_t after_ms,
              std::optional<StoredRecord> then = std::nullopt);
  [[nodiscard]] StoredRecord result_of(const StoredRecord& work, const std::string& target) const;
  [[nodiscard]] bool is_potent(const std::string& target) const;
  [[nodiscard]] bool may_be_monotonic(const std::string& target) const;
  [[nodiscard]] std::int64_t delay();
  void write(std::size_t which);

  const Scenario& scenario_;
  Broker& broker_;
  const Producers& producers_;
  Counters& counters_;
  std::size_t source_;
  std::size_t commands_;
  std::vector<Offset> next_;  // per partition of the source
  std::vector<Answer> waiting_;
  std::set<Piece> excused_;
  bool loses_ = true;
};

}  // namespace reseq::simulation
