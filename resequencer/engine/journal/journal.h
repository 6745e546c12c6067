// Journal: the agenda of requests that wait (journal_batch.h): leases, expirations, dispatch, age. It stands in front
// of `work` in every process: with mode = "immediate" what waits drains as it came.
// Thread rule: const; any thread.
#pragma once

#include "engine/agenda.h"
#include "engine/context.h"

namespace reseq::engine {

class Journal final : public AgendaSource {
 public:
  // What is held by its place becomes a body when its record is so old; none: never.
  explicit Journal(const DispatchRules& rules, std::optional<Milliseconds> reference_age = {})
      : rules_(rules), reference_age_(reference_age) {}

  [[nodiscard]] std::uint64_t capability() const override;
  [[nodiscard]] std::uint64_t needs() const override;
  [[nodiscard]] std::span<const AgendaKind> agenda() const override;
  [[nodiscard]] std::optional<UnixMs> next(std::uint8_t kind, const Moment& moment) const override;
  [[nodiscard]] UnixMs until(std::uint8_t kind, UnixMs now) const override;

 private:
  [[nodiscard]] std::optional<UnixMs> next_dispatch(const Moment& moment) const;
  [[nodiscard]] std::optional<UnixMs> next_aged(const StateView& view) const;

  DispatchRules rules_;
  std::optional<Milliseconds> reference_age_;
};

}  // namespace reseq::engine
