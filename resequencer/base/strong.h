// Strong<Tag, Rep>: a value that cannot be mistaken for its neighbour in an argument list.
// Thread rule: plain value.
#pragma once

#include <compare>

namespace reseq {

template <typename Tag, typename Rep>
class Strong {
 public:
  using rep = Rep;

  constexpr Strong() = default;
  constexpr explicit Strong(Rep value) : value_(value) {}

  [[nodiscard]] constexpr Rep value() const { return value_; }

  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;

 private:
  Rep value_{};
};

}  // namespace reseq
