#include "engine/orders/orders.h"

#include <array>

#include "base/big_endian.h"
#include "engine/orders/orders_batch.h"

namespace reseq::engine {
namespace {

// A place is skipped when no result or operation stands undecided that would end it.
constexpr std::array<AgendaKind, 2> kOrdersKinds = {{
    {kGapTurn, "gap", {.control = true, .commands = true}},
    {kDrainTurn, "drain", {}, true},
}};

std::optional<std::uint64_t> first_of(const StateView& view, std::uint8_t index) {
  std::optional<std::uint64_t> first;
  view.index(index, {}, 1, [&](std::string_view entry, std::string_view) {
    first = read_big_endian(entry);
    return true;
  });
  return first;
}

}  // namespace

std::uint64_t Orders::capability() const {
  return kOrdersNumbers.capability_bit();
}

std::uint64_t Orders::needs() const {
  return any_ ? capability() : 0;
}

std::span<const AgendaKind> Orders::agenda() const {
  return kOrdersKinds;
}

std::optional<UnixMs> Orders::next(std::uint8_t kind, const Moment& moment) const {
  if (moment.view.summary().counts[Count::kPlaces] == 0) return std::nullopt;
  if (kind == kGapTurn) {
    const auto due = first_of(moment.view, codec::kGapIndex);
    if (!due || *due == static_cast<std::uint64_t>(codec::kNever.value())) return std::nullopt;
    return UnixMs(static_cast<std::int64_t>(*due));
  }
  return first_of(moment.view, codec::kReadyIndex) ? std::optional(UnixMs()) : std::nullopt;
}

}  // namespace reseq::engine
