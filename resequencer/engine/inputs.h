// Inputs: decides one input after the other, and makes what was decided happen to the rows and effects of the batch.
// Thread rule: one thread.
#pragma once

#include <optional>
#include <vector>

#include "engine/batch.h"
#include "engine/dispatch.h"
#include "engine/effects.h"
#include "engine/journal/journal_batch.h"
#include "engine/orders/orders_batch.h"
#include "engine/overlay.h"
#include "engine/ruling.h"

namespace reseq::engine {

class Inputs {
 public:
  // REQUIRES: all of them outlive it.
  Inputs(const Context& context, Overlay& overlay, Effects& effects, PartitionState& state, JournalBatch& journal,
         OrdersBatch& orders)
      : context_(context),
        overlay_(overlay),
        effects_(effects),
        state_(state),
        journal_(journal),
        orders_(orders),
        dispatch_(effects) {}

  // One overload per alternative of Command; Batch::decide says the rest.
  Taken decide(const Request& request, Offset position, bool requests_read);
  Taken decide(const Register& command, Offset position, bool requests_read);
  Taken decide(const Unregister& command, Offset position, bool requests_read);
  Taken decide(const SequenceResult& command, Offset position, bool requests_read);
  Taken decide(const Fail& command, Offset position, bool requests_read);
  Taken decide(const Heartbeat& command, Offset position, bool requests_read);
  Taken decide(const Reset& reset, Offset position, bool requests_read);
  Taken decide(const Expire& command, Offset position, bool requests_read);
  Taken decide(const DispatchByHand& command, Offset position, bool requests_read);
  Taken decide(const ReleaseByHand& command, Offset position, bool requests_read);
  Taken decide(const RaiseFloor& command, Offset position, bool requests_read);
  Taken decide(const Pause& command, Offset position, bool requests_read);
  Taken decide(const ResumeTarget& command, Offset position, bool requests_read);
  Taken decide(const SkipPlace& command, Offset position, bool requests_read);
  Taken decide(const Refused& refused, Offset position, bool requests_read);

  // Behind the inputs.
  [[nodiscard]] Dispatch& dispatch() { return dispatch_; }

  [[nodiscard]] const std::vector<LateResult>& late_results() const { return late_; }
  [[nodiscard]] const std::vector<InputIndex>& older_requests() const { return older_; }

 private:
  Taken decide_ordered(Document& document, const SequenceResult& command, bool requests_read);
  // `late`: it goes on, and was too late for one of its lanes.
  [[nodiscard]] Ruling decide_with_lanes(Document& document, const Request& request, Offset position, bool& late);
  Taken unregister_ordered(Document& document, const Unregister& command, bool requests_read);
  // Makes the ruling about an input of `document` happen, unless it has to wait for `requests`. A result has a target.
  Taken settle(Document& document, const Ruling& ruling, bool requests_read,
               std::optional<TargetNumber> target = std::nullopt, std::uint32_t attempt = 0);
  // The same about an operation, which is always told of, and only told of when it is a dry run. `seen`: what its
  // expectations are compared with, null = nothing is known.
  Taken settle_operation(Document& document, const Ruling& ruling, bool dry_run, const Row* seen,
                         std::optional<TargetNumber> target);
  // What an operator does is no answer of a worker.
  void carry_out(Document& document, const Ruling& ruling, InputIndex input, bool by_operator);
  void note_late(const Document& document, const Order& order);
  void note_older(const Document& document, Offset position, InputIndex input);

  const Context& context_;
  Overlay& overlay_;
  Effects& effects_;
  PartitionState& state_;
  JournalBatch& journal_;
  OrdersBatch& orders_;
  Dispatch dispatch_;
  std::vector<LateResult> late_;
  std::vector<InputIndex> older_;
};

}  // namespace reseq::engine
