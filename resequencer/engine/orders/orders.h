// Orders: the agenda of lanes of ordered targets (orders_batch.h): heads that are waited for no longer, and results
// that are to leave. It stands in every process: places that another configuration has left are passed by.
// Thread rule: const; any thread.
#pragma once

#include "engine/agenda.h"
#include "engine/context.h"

namespace reseq::engine {

class Orders final : public AgendaSource {
 public:
  explicit Orders(bool any) : any_(any) {}

  [[nodiscard]] std::uint64_t capability() const override;
  [[nodiscard]] std::uint64_t needs() const override;
  [[nodiscard]] std::span<const AgendaKind> agenda() const override;
  [[nodiscard]] std::optional<UnixMs> next(std::uint8_t kind, const Moment& moment) const override;

 private:
  bool any_;  // some target is ordered
};

}  // namespace reseq::engine
