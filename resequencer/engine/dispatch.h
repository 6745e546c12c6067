// Dispatch: the exit to `work`. Every forward passes here; until the batch is closed it can be taken back, because
// nothing leaves before.
// Thread rule: one thread.
#pragma once

#include "engine/effects.h"
#include "engine/overlay.h"
#include "engine/ruling.h"

namespace reseq::engine {

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
  // Sends what was held under this key: to those of its targets that still wait for it. False: none does, or it is
  // `bytes` large and `work` does not take it any more; then it is a dead letter. REQUIRES: all inputs are decided.
  bool let_through(Document& document, std::string_view key, const Forward& held, std::uint64_t bytes,
                   const Context& context, Overlay& overlay);

  // Takes what a newer request moved away out of earlier forwards of this batch.
  void narrow(const Document& document, const Ruling& newer) {
    if (!document.sent.empty()) narrow_sent(document, newer);
  }

 private:
  void narrow_sent(const Document& document, const Ruling& newer);
  Effects& effects_;
};

}  // namespace reseq::engine
