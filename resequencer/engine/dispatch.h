// Dispatch: the exit to `work`. Every forward passes here; until the batch is closed it can be taken back, because
// nothing leaves before.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/effects.h"
#include "engine/overlay.h"
#include "engine/ruling.h"

namespace reseq::engine {

// What was held and is to leave.
struct HeldForward {
  std::string_view key;  // of its row
  const Forward& forward;
  std::uint64_t work_bytes;    // upper bound of its record in `work`
  std::uint64_t record_bytes;  // of the record that came
  std::optional<Offset> gone;  // that is not in its log any more, where it was
};

class Dispatch {
 public:
  // REQUIRES: the effects outlive it.
  explicit Dispatch(Effects& effects) : effects_(effects) {}

  // REQUIRES: the ruling says kForwarded.
  void forward(Document& document, const Ruling& ruling, InputIndex input) {
    const Forward forward{ruling.edit.order, ruling.op, ruling.edit.requested->forwarded};
    document.sent.push_back(static_cast<std::uint32_t>(effects_.send(input, forward)));
  }

  // The request of this forward, the last one that was sent, may have to wait. REQUIRES: there is a gate.
  void offer(Document& document, const Request& request, Offset position, const Context& context);
  // Sends what was held to those of its targets that still wait for it. False: none does; or `work` does not take it
  // any more, or its record is gone: then it is a dead letter. REQUIRES: all inputs are decided.
  bool let_through(Document& document, const HeldForward& leaving, const Context& context, Overlay& overlay);

  // Takes what a newer request moved away out of earlier forwards of this batch.
  void narrow(const Document& document, const Ruling& newer) {
    if (!document.sent.empty()) narrow_sent(document, newer);
  }

 private:
  void narrow_sent(const Document& document, const Ruling& newer);
  Effects& effects_;
};

}  // namespace reseq::engine
