// BatchDriver: decides all that shares one transaction, in the only order there is: inputs (requests, control,
// commands), then what is due, then the sweep; then the batch is closed. The worker, shadow mode, the judge and every
// test that decides anything do it through this class, so that there is one order.
//
// Invariants: behind an input that was not decided none is; behind a stop nothing is due. Pure: which inputs there are
// and what is due, its caller says. Thread rule: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/assert.h"
#include "codec/command_decoder.h"
#include "engine/batch.h"
#include "engine/turn.h"

namespace reseq::driver {

// One turn of a kind of the gate's agenda: as far as it may go.
struct GateTurn {
  std::uint8_t kind = 0;
  UnixMs until;                // nothing that is due later
  std::uint32_t rows_max = 0;  // no more of them
};

// What is due behind the inputs, in the order in which it is done. Ids are those of committed rows; what is not due any
// more behind the inputs of the batch is left as it is.
struct Agenda {
  std::span<const std::string> overdue = {};  // deadlines passed, earliest first
  std::span<const GateTurn> turns = {};       // by kind
  std::span<const std::string> expired = {};  // watermarks kept long enough, in key order
  engine::BytesLeft* left = nullptr;          // for the turns; null = without a bound
  engine::References* references = nullptr;   // likewise; null = nothing is held by reference
};

class BatchDriver {
 public:
  // `state` is what stands before the batch. REQUIRES: view and context outlive the driver.
  BatchDriver(const engine::StateView& view, const PartitionState& state, const engine::Context& context);

  // Room for so many inputs, before the first: cheaper than to grow.
  void expect(std::size_t inputs) { batch_.expect(inputs); }

  // Inputs of this kind are decided in this batch: of a partition that was paused before it, only operations are.
  [[nodiscard]] bool takes(Role role) const {
    return ended_by_ == engine::Taken::kDecided && (!paused_ || role == Role::kControl);
  }

  // Decides the next input (engine::Batch::decide). REQUIRES: takes(its role); the bytes of the input and the arena of
  // `decoding` outlive the driver.
  [[nodiscard]] engine::Taken decide(codec::InputRecord& input, const codec::DecodeContext& decoding,
                                     bool requests_read) {
    return decide(codec::decode(input, decoding), input.offset, requests_read);
  }
  [[nodiscard]] engine::Taken decide(const Command& command, Offset position, bool requests_read) {
    RESEQ_ASSERT(ended_by_ == engine::Taken::kDecided, "an input behind one that was not decided");
    ended_by_ = batch_.decide(command, position, requests_read);
    return ended_by_;
  }

  // Why no further input is decided: kDecided = only because there was none.
  [[nodiscard]] engine::Taken ended_by() const { return ended_by_; }
  [[nodiscard]] bool stopped() const { return ended_by_ == engine::Taken::kStop; }

  // The agenda, behind the inputs. Nothing can be decided afterwards.
  void close(const Agenda& agenda = {});

  // What the turns did, those that did nothing left out. REQUIRES: closed.
  [[nodiscard]] const std::vector<AgendaDone>& agenda_done() const { return agenda_done_; }

  // Kinds whose turns ended in front of a reference whose record was not read. REQUIRES: closed.
  [[nodiscard]] const std::vector<std::uint8_t>& lacking() const { return lacking_; }

  // Documents that became overdue in this batch. REQUIRES: closed.
  [[nodiscard]] std::size_t became_overdue() const { return became_overdue_; }
  // What came of it. REQUIRES: closed.
  [[nodiscard]] const engine::Batch& batch() const { return batch_; }

 private:
  engine::Batch batch_;
  bool paused_;
  engine::Taken ended_by_ = engine::Taken::kDecided;
  std::size_t became_overdue_ = 0;
  std::vector<AgendaDone> agenda_done_;
  std::vector<std::uint8_t> lacking_;
};

}  // namespace reseq::driver
