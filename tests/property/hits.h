// Hits: how often each row of the decision tables, each outcome and each reason was met.
// Thread rule: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>

#include "tests/property/history.h"

namespace reseq::property {

struct Hits {
  std::array<std::uint64_t, static_cast<std::size_t>(TableRow::kCount)> table_rows{};
  std::array<std::uint64_t, static_cast<std::size_t>(Outcome::kCount)> outcomes{};
  std::array<std::uint64_t, static_cast<std::size_t>(Reason::kCount)> reasons{};
  std::uint64_t inputs = 0;
  std::uint64_t stopped = 0;             // policy on_missing = stop
  std::uint64_t requests_first = 0;      // a command that waited for requests
  std::uint64_t withdrawn = 0;           // forwards superseded in their own batch
  std::uint64_t narrowed = 0;            // forwards that lost some targets in their own batch
  std::uint64_t monotonic_releases = 0;  // releases of an order that is not the newest
  std::uint64_t forced_releases = 0;     // by hand, of what nobody waited for
  std::uint64_t overdue = 0;

  void count(const Entry& entry);
};

std::ostream& operator<<(std::ostream& out, const Hits& hits);

}  // namespace reseq::property
