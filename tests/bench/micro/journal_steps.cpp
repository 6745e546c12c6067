// What waits: beginning to wait, and leaving from what is committed, with all that is written of it. The state is in
// memory, with many others that wait.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "changelog/batch_rows.h"
#include "codec/held_rows.h"
#include "driver/batch_driver.h"
#include "engine/journal/journal_batch.h"
#include "store/batch_view.h"
#include "tests/bench/micro/samples.h"
#include "tests/bench/micro/step.h"

namespace reseq::bench {

namespace {

constexpr std::uint64_t kWaitingRows = 5'000;   // that begin to wait in one batch before it is measured
constexpr std::uint64_t kRoom = 1'000'000'000;  // for all

engine::Context journal_context(std::uint64_t in_flight) {
  engine::Context made = context();
  made.dispatch.journal = true;
  made.dispatch.in_flight_max = in_flight;
  made.dispatch.held_bytes_max = UINT64_MAX;
  return made;
}

// A partition with a journal, decided, written and applied as a worker does it.
class JournalStep : public Step {
 public:
  explicit JournalStep(const Size& size) : size_(size) {
    Rows first;
    first.add_identity();
    apply(first.all());
    for (std::uint64_t known = 0; known < size.known; known += kWaitingRows) wait(kWaitingRows);
  }
  [[nodiscard]] std::uint64_t records() const override { return size_.batch; }

 protected:
  // So many documents that nobody knew begin to wait.
  void wait(std::uint64_t documents) {
    Inputs inputs;
    for (std::uint64_t i = 0; i < documents; ++i) inputs.add_request(next_++, 1);
    decide(inputs, journal_context(0), 0);
  }
  // With room in flight for so many more.
  void decide(Inputs& inputs, const engine::Context& context, std::uint64_t leave) {
    Arena arena;
    const store::BatchView view(store_);
    codec::DecodeContext reading = decoding(targets_);
    reading.arena = &arena;
    reading.journal = true;
    reading.hash = &store_.hash();
    driver::BatchDriver driver(view, state_, context);
    driver.expect(inputs.all().size());
    for (codec::InputRecord& input : inputs.all()) (void)driver.decide(input, reading, true);
    const driver::GateTurn turn{engine::kDispatchTurn, context.now, static_cast<std::uint32_t>(leave)};
    const std::span<const driver::GateTurn> turns(&turn, leave > 0 ? 1 : 0);
    driver.close({.turns = turns});
    const engine::Batch& batch = driver.batch();
    RESEQ_ASSERT(batch.emissions().size() == leave, "a sample that leaves, or stays");
    std::vector<codec::InputRecord> records = inputs.all();
    read_held(batch, records, arena);
    std::vector<store::Change> rows;
    changelog::append_rows(batch.changes(), view, arena, rows);
    changelog::append_rows(batch.holds(), records, store_.hash(), arena, rows);
    changelog::append_rows(batch.row_changes(), view, rows);
    apply(rows);
    state_ = batch.state();
  }

 private:
  void read_held(const engine::Batch& batch, std::vector<codec::InputRecord>& records, Arena& arena) const {
    const codec::FindRow find = [this](std::string_view key) { return store_.row(key); };
    for (const LetThrough& held : batch.let_through()) {
      const auto decoded = codec::decode_held(held.key, store_.row(held.key).value());
      records.push_back(codec::held_record(held.key, std::get<codec::HeldRow>(decoded), find, arena).value());
    }
  }
  void apply(const std::vector<store::Change>& rows) {
    const Summary after = store_.after(rows);
    store_.apply(rows, after, Offset(offset_ += static_cast<std::int64_t>(rows.size())));
  }

  Size size_;
  TargetTable targets_ = target_table();
  store::PartitionStore store_;
  PartitionState state_ = partition_state();
  std::uint64_t next_ = 0;
  std::int64_t offset_ = 0;
};

class JournalWait final : public JournalStep {
 public:
  using JournalStep::JournalStep;
  void run() override { wait(records()); }
};

class JournalDispatch final : public JournalStep {
 public:
  using JournalStep::JournalStep;
  void prepare() override { wait(records()); }
  void run() override {
    Inputs none;
    decide(none, journal_context(kRoom), records());
  }
};

// As with a pipeline that answers at once.
class JournalPass final : public JournalStep {
 public:
  explicit JournalPass(const Size& size) : JournalStep({0, size.batch}) {}
  void run() override {
    Inputs inputs;
    for (std::uint64_t i = 0; i < records(); ++i) inputs.add_request(next_++, 1);
    decide(inputs, journal_context(kRoom), records());
  }

 private:
  std::uint64_t next_ = 0;
};

}  // namespace

std::vector<NamedStep> journal_steps() {
  return {
      named<JournalWait>("journal_wait", "requests that begin to wait, with their rows"),
      named<JournalDispatch>("journal_dispatch", "requests that leave from what waits, with their rows"),
      named<JournalPass>("journal_pass", "requests that leave at once through the journal, with their rows"),
  };
}

}  // namespace reseq::bench
