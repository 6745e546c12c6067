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
  std::uint64_t held = 0;            // requests that a gate kept
  std::uint64_t left_later = 0;      // of them, those that were sent
  std::uint64_t left_for_fewer = 0;  // of those, to fewer targets than were asked for
  std::uint64_t left_large = 0;      // and alone, because they are larger than what a batch has room for

  std::uint64_t gone = 0;  // given up, because their records were gone

  void count(const Entry& entry);
};

std::ostream& operator<<(std::ostream& out, const Hits& hits);

}  // namespace reseq::property
