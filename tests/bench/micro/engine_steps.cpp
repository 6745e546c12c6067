// Deciding, with rows in memory that need no decoding: what the engine costs without its store.
#include <string>
#include <vector>

#include "base/hash_index.h"
#include "base/id_hash.h"
#include "driver/batch_driver.h"
#include "tests/bench/micro/samples.h"
#include "tests/bench/micro/step.h"
#include "tests/bench/requests.h"

namespace reseq::bench {

namespace {

// A place is the number of a document.
class StateInMemory final : public engine::StateView {
 public:
  [[nodiscard]] engine::Lookup find(DocumentId id) const override {
    engine::Lookup found;
    found.place = number_of(id);
    if (found.place != HashIndex::kNone) found.row = known_[found.place].row;
    return found;
  }
  void apply(std::span<const RowChange> changes) {
    for (const RowChange& change : changes) known_[change.place].row = *change.row;
  }
  void add(std::uint64_t document, const Row& row) {
    const auto number = static_cast<std::uint32_t>(known_.size());
    known_.push_back({id_of(document), row});
    index_.add(IdHash()(known_.back().id), number);
  }

 private:
  struct Known {
    std::string id;
    Row row;
  };
  [[nodiscard]] std::uint32_t number_of(DocumentId id) const {
    return index_.find(IdHash()(id), [&](std::uint32_t number) { return known_[number].id == id; });
  }

  HashIndex index_;
  std::vector<Known> known_;
};

// Batches of one size after another, without applying what they changed.
class Decide : public Step {
 public:
  explicit Decide(const Size& size) : size_(size) {
    for (std::uint64_t document = 0; document < size.known; ++document) state_.add(document, row_of(1));
  }
  void run() override {
    driver::BatchDriver driver(state_, before_, context_);
    driver.expect(commands_.size());
    std::int64_t position = 0;
    for (const Command& command : commands_)
      if (driver.decide(command, Offset(++position), true) != engine::Taken::kDecided) return;
    driver.close();
    const engine::Batch& batch = driver.batch();
    RESEQ_ASSERT(batch.changes().size() == commands_.size(), "a sample that changes nothing");
  }
  [[nodiscard]] std::uint64_t records() const override { return commands_.size(); }

 protected:
  void add_request(std::uint64_t document, std::uint64_t sequence) { inputs_.add_request(document, sequence); }
  void decode_all() {
    for (auto& input : inputs_.all()) commands_.push_back(codec::decode(input, decoding(targets_)));
  }
  [[nodiscard]] const Size& size() const { return size_; }

 private:
  Size size_;
  TargetTable targets_ = target_table();
  Inputs inputs_;
  std::vector<Command> commands_;
  StateInMemory state_;
  PartitionState before_ = partition_state();
  engine::Context context_ = context();
};

class DecideNew final : public Decide {
 public:
  explicit DecideNew(const Size& size) : Decide(size) {
    for (std::uint64_t i = 0; i < size.batch; ++i) add_request(size.known + i, 1);
    decode_all();
  }
};

class DecideKnown final : public Decide {
 public:
  explicit DecideKnown(const Size& size) : Decide(size) {
    for (const std::uint64_t document : drawn(size.batch, size.known)) add_request(document, 2);
    decode_all();
  }
};

// A life of each document: a request and two results, in a state that is kept.
class Life final : public Step {
 public:
  explicit Life(const Size& size) {
    for (std::uint64_t document = 0; document < size.known; ++document) state_.add(document, row_of(1));
    chosen_ = drawn(size.batch, size.known);
  }
  void prepare() override {
    ++sequence_;
    inputs_.emplace();
    for (const std::uint64_t document : chosen_) inputs_->add_request(document, sequence_);
    for (const std::uint64_t document : chosen_) inputs_->add_result(document, sequence_, "search");
    for (const std::uint64_t document : chosen_) inputs_->add_result(document, sequence_, "catalogue");
    commands_.clear();
    for (auto& input : inputs_->all()) commands_.push_back(codec::decode(input, decoding(targets_)));
  }
  void run() override {
    for (std::size_t i = 0; i < 3; ++i) {
      driver::BatchDriver driver(state_, before_, context_);
      driver.expect(chosen_.size());
      for (std::size_t k = i * chosen_.size(); k < (i + 1) * chosen_.size(); ++k)
        (void)driver.decide(commands_[k], Offset(++position_), true);
      driver.close();
      const engine::Batch& batch = driver.batch();
      RESEQ_ASSERT(batch.changes().size() == chosen_.size(), "a sample that changes nothing");
      state_.apply(batch.changes());
      before_ = batch.state();
    }
  }
  [[nodiscard]] std::uint64_t records() const override { return 3 * chosen_.size(); }

 private:
  TargetTable targets_ = target_table();
  std::vector<std::uint64_t> chosen_;
  std::optional<Inputs> inputs_;
  std::vector<Command> commands_;
  std::uint64_t sequence_ = 1;
  std::int64_t position_ = 0;
  StateInMemory state_;
  PartitionState before_ = partition_state();
  engine::Context context_ = context();
};

}  // namespace

std::vector<NamedStep> engine_steps() {
  return {
      named<DecideNew>("decide_new", "requests for documents that nobody knows"),
      named<DecideKnown>("decide_known", "requests that supersede"),
      named<Life>("engine", "a command of a life: request, result, result; its state in memory"),
  };
}

}  // namespace reseq::bench
