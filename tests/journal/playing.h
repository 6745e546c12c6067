// Playing: a history through the engine, over rows held in memory as they are encoded: what a batch changed is written
// as its bytes and read again from them.
// Thread rule: one thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/hash.h"
#include "driver/batch_driver.h"
#include "engine/journal/journal.h"
#include "tests/gate/keyed_rows.h"
#include "tests/journal/job.h"

namespace reseq::journal {

// A state of encoded rows of all kinds.
class EncodedRows final : public gate::WithOthers<> {
 public:
  [[nodiscard]] engine::Lookup find(DocumentId id) const override;
  [[nodiscard]] const Summary& summary() const override { return summary_; }

  void put(DocumentId id, const Row* row);
  // After rows have changed: what they add up to.
  void sum_up();
  [[nodiscard]] std::map<std::string, Row> documents() const;

 private:
  Summary summary_;
};

class EnginePlayer final : public Player {
 public:
  EnginePlayer(const Rules& rules, bool journal);

  [[nodiscard]] Answer play(const Batch& batch) override;
  [[nodiscard]] std::vector<Pending> pending() const override;
  // What is held in the state beside documents.
  [[nodiscard]] std::size_t held() const;

 private:
  [[nodiscard]] Command command_of(const Input& input);
  void apply(const engine::Batch& decided, const Batch& batch);
  [[nodiscard]] Answer answer_of(const engine::Batch& decided, const Batch& batch) const;
  [[nodiscard]] std::size_t document_of(const engine::Batch& decided, const Batch& batch, InputIndex input) const;
  [[nodiscard]] std::uint64_t number_of(const Dispatched& one) const;

  engine::Context context_;
  std::optional<engine::Journal> journal_;
  EncodedRows rows_;
  PartitionState state_;
  std::deque<Wish> wishes_;  // of the running batch
};

}  // namespace reseq::journal
