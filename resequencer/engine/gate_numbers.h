// GateNumbers: which numbers are taken by gates (engine/gate.h). They stand in keys and meta rows of states that live
// on, so each is given out once and never again; a gate takes its own from here.
// Thread rule: constants.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/effects.h"

namespace reseq::engine {

struct GateNumbers {
  using Numbers = std::array<std::optional<std::uint8_t>, 4>;
  std::string_view name;
  std::uint8_t gate = 0;    // in the keys of its rows
  unsigned capability = 0;  // bit of the meta row
  Numbers kinds = {};       // of its agenda, in the meta row
  Numbers indexes = {};

  [[nodiscard]] constexpr std::uint64_t capability_bit() const { return std::uint64_t{1} << capability; }
};

// clang-format off
inline constexpr std::array<GateNumbers, 5> kGateNumbers = {{
    // name      gate  bit  kinds          indexes
    {"journal",  1,    1,   {2, 3, 4, 5},  {2, 3, 4, 5}},  // engine/journal: lease, expire, dispatch, age
    {"failures", 2,    2,   {},            {6}},           // engine/failures: what waits, by its targets
    {"orders",   3,    3,   {6, 7},        {7, 8, 9, 10}}, // engine/orders: gap, drain
    {"window",   255,  63,  {254, 255},    {127}},         // tests/gate: 254 open, 255 drain
    {"latest",   200,  0,   {200, 201},    {1}},           // tests/unit/gate
}};
// clang-format on

// False: a number is given out twice, or none can be so high.
[[nodiscard]] constexpr bool are_given_out_once(std::span<const GateNumbers> gates) {
  std::array<bool, 256> of_gates = {};
  std::array<bool, 64> bits = {};
  std::array<bool, 256> of_kinds = {};
  std::array<bool, kIndexes> of_indexes = {};
  const auto take = [](auto& taken, std::size_t number) {
    if (number >= taken.size() || taken[number]) return false;
    return taken[number] = true;
  };
  for (const GateNumbers& one : gates) {
    if (!take(of_gates, one.gate) || !take(bits, one.capability)) return false;
    for (const auto& kind : one.kinds)
      if (kind && !take(of_kinds, *kind)) return false;
    for (const auto& index : one.indexes)
      if (index && !take(of_indexes, *index)) return false;
  }
  return true;
}
static_assert(are_given_out_once(kGateNumbers));

// Of the gate with that name; a name that is not in the table does not compile.
[[nodiscard]] consteval GateNumbers gate_numbers(std::string_view name) {
  for (const GateNumbers& one : kGateNumbers)
    if (one.name == name) return one;
  throw "no such gate";
}

}  // namespace reseq::engine
