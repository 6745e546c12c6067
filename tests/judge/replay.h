// Replay: the changelog of one partition as batches, and each of them decided again from the inputs that its meta row
// names, by a serial loop over a state of its own. What comes out must be what was committed, byte by byte: the state
// is a function of the log.
// Thread rule: one thread.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/hash.h"
#include "codec/wire.h"
#include "driver/batch_driver.h"
#include "runtime/application/application.h"
#include "store/partition_store.h"
#include "tests/judge/history.h"
#include "tests/judge/produced.h"
#include "tests/judge/verdict.h"

namespace reseq::judge {

// An input with what became of it.
struct Decided {
  Role role = Role::kRequests;
  Record record;
  Decision decision;
};

struct Released {
  std::string_view id;
  std::string_view target;
  std::uint32_t epoch = 0;
  std::uint64_t sequence = 0;
  std::uint64_t revision = 0;
  std::optional<std::string_view> payload;
};

struct Fired {
  std::string id;
  UnixMs deadline;
};

// What was sent to `work`.
struct Dispatched {
  std::string id;
  Order order;
  std::uint32_t attempt = 1;
  Offset request;
  std::vector<std::string> targets;
};

// A request that waited, or inherits what failed, given up: a dead letter with this reason.
struct GivenUp {
  std::string id;
  Offset request;
  Reason reason = Reason::kNone;
  std::vector<std::string> targets = {};  // that have no result of it
};

// That there is no result for a target, told on its output.
struct Marked {
  std::string id;
  Offset request;
  std::string target;
  Reason reason = Reason::kNone;
};

// An order that waited and does so no more, nor was it dispatched.
struct Gone {
  std::string id;
  Order order;
  std::vector<std::string> targets;
};

// What the journal of a document became in a batch.
struct Journaled {
  std::string id;
  std::vector<JournalEntry> before;
  std::vector<JournalEntry> after;
};

struct ReplayedBatch {
  Offset first;  // of its rows in the changelog
  Offset at;     // of its meta row
  bool birth = false;
  Meta meta;
  std::vector<Decided> inputs;
  std::vector<Released> releases;  // of the commands, and of what was held
  std::deque<std::string> held;    // what these say
  std::vector<Fired> fired;
  std::vector<std::string> expired;
  std::vector<AgendaDone> done;  // of the gate's agenda
  std::size_t read_again = 0;    // held records that were references
  std::vector<Dispatched> dispatched;
  std::vector<GivenUp> given_up;
  std::vector<Marked> marked;
  std::vector<Gone> gone;
  std::vector<Journaled> journaled;
  std::vector<std::string> down;  // targets that could not be reached before it, nor behind it
};

class Replay {
 public:
  // REQUIRES: application was asked, its topics are those of the history in the same order.
  Replay(const runtime::Application& application, const History& history, Partition partition, Produced& produced,
         Verdict& verdict);
  ~Replay();

  // Shows each batch when it was decided again; what it holds is only valid until the next one. One that differs is
  // told, and the next goes on from what was committed. Ends early where the changelog is no sequence of batches.
  using Visit = std::function<void(const ReplayedBatch&)>;
  void run(const Visit& visit);

 private:
  struct Rows;
  struct LoggedBatch;

  void read_overdue();
  [[nodiscard]] bool read_meta(const Record& record, LoggedBatch& batch);
  [[nodiscard]] bool give_birth(const LoggedBatch& birth);
  void decide(const LoggedBatch& logged, ReplayedBatch& replayed);
  [[nodiscard]] bool waits() const;
  [[nodiscard]] bool decide_inputs(const Meta& meta, driver::BatchDriver& driver,
                                   std::vector<codec::InputRecord>& inputs, ReplayedBatch& replayed, Arena& arena);
  // Ids, in the order of the batch.
  [[nodiscard]] std::vector<std::string> became_overdue(const LoggedBatch& logged, ReplayedBatch& replayed);
  [[nodiscard]] std::vector<std::string> swept(const Meta& meta) const;
  [[nodiscard]] bool read_held(const engine::Batch& batch, std::vector<codec::InputRecord>& records,
                               ReplayedBatch& replayed, Arena& arena) const;
  [[nodiscard]] std::vector<store::Change> rows_of(const engine::Batch& batch,
                                                   std::span<const codec::InputRecord> records, Arena& arena) const;
  // What differs, or empty.
  [[nodiscard]] std::string compare(const LoggedBatch& logged, const std::vector<store::Change>& rows,
                                    const PartitionState& after) const;
  // The state as it was committed.
  void take_over(const LoggedBatch& logged);
  // `input` null: of a timer.
  [[nodiscard]] Source source_of(const codec::InputRecord* input, const ReplayedBatch& replayed) const;
  void produce(const Emission& emission, const codec::InputRecord* input, ReplayedBatch& replayed);
  void note_left(const Emission& emission, const codec::InputRecord& input, ReplayedBatch& replayed) const;
  [[nodiscard]] std::vector<std::string> names_of(TargetSet targets) const;
  void note_journal(const engine::Batch& batch, ReplayedBatch& replayed) const;
  void produce(const Event& event, const codec::InputRecord* input, const ReplayedBatch& replayed);
  void broken(const std::string& what);
  void differs(Offset at, const std::string& what);

  const runtime::Application& application_;
  const History& history_;
  Partition partition_;
  Produced& produced_;
  Verdict& verdict_;
  std::unique_ptr<Rows> rows_;
  TargetTable targets_;
  std::unique_ptr<runtime::PartitionSetting> setting_;
  std::unique_ptr<codec::KeyedHash> hash_;
  PartitionState state_;
  std::multiset<std::pair<std::string, UnixMs>> told_overdue_;  // where requests wait: by the events
};

}  // namespace reseq::judge
