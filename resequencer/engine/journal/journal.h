// Journal: the agenda of requests that wait (journal_batch.h): leases, expirations, dispatch. It stands in front of
// `work` in every process: with mode = "immediate" what waits drains as it came.
// Thread rule: const; any thread.
#pragma once

#include "engine/agenda.h"
#include "engine/context.h"

namespace reseq::engine {

class Journal final : public AgendaSource {
 public:
  explicit Journal(const DispatchRules& rules) : rules_(rules) {}

  [[nodiscard]] std::uint64_t capability() const override;
  [[nodiscard]] std::span<const AgendaKind> agenda() const override;
  [[nodiscard]] std::optional<UnixMs> next(std::uint8_t kind, const StateView& view) const override;

 private:
  [[nodiscard]] std::optional<UnixMs> next_dispatch(const StateView& view) const;

  DispatchRules rules_;
};

}  // namespace reseq::engine
