// Hits, counted and printed.
#include "tests/property/hits.h"

#include <iomanip>
#include <ostream>

namespace reseq::property {
namespace {

template <typename Names, typename Counts>
void print(std::ostream& out, const char* title, const Names& names, const Counts& counts) {
  out << title << '\n';
  for (std::size_t i = 0; i < counts.size(); ++i)
    out << "  " << std::left << std::setw(28) << names[i] << std::right << std::setw(12) << counts[i] << '\n';
}

}  // namespace

void Hits::count(const Entry& entry) {
  ++inputs;
  ++table_rows[static_cast<std::size_t>(entry.decision.table_row)];
  ++outcomes[static_cast<std::size_t>(entry.decision.outcome)];
  ++reasons[static_cast<std::size_t>(entry.decision.reason)];
}

std::ostream& operator<<(std::ostream& out, const Hits& hits) {
  print(out, "table rows", kTableRowNames, hits.table_rows);
  print(out, "outcomes", kOutcomeNames, hits.outcomes);
  print(out, "reasons", kReasonNames, hits.reasons);
  const std::array names = {"inputs",
                            "stopped on missing",
                            "requests first",
                            "forwards withdrawn",
                            "forwards narrowed",
                            "monotonic releases",
                            "forced releases",
                            "overdue",
                            "held by a gate",
                            "sent later",
                            "sent later to fewer",
                            "sent later, larger than a batch",
                            "gone"};
  const std::array counts = {hits.inputs,
                             hits.stopped,
                             hits.requests_first,
                             hits.withdrawn,
                             hits.narrowed,
                             hits.monotonic_releases,
                             hits.forced_releases,
                             hits.overdue,
                             hits.held,
                             hits.left_later,
                             hits.left_for_fewer,
                             hits.left_large,
                             hits.gone};
  print(out, "besides", names, counts);
  return out;
}

}  // namespace reseq::property
