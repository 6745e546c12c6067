#include "codec/failure_words.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace reseq::codec {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kKinds = {"unknown", "transient", "permanent"};
constexpr std::array<std::string_view, 2> kScopes = {"document", "universal"};
static_assert(static_cast<std::size_t>(FailureKind::kPermanent) + 1 == kKinds.size());
static_assert(static_cast<std::size_t>(FailureScope::kUniversal) + 1 == kScopes.size());

template <typename Enum, typename Names>
std::optional<Enum> named(std::string_view word, const Names& names) {
  const auto found = std::find(names.begin(), names.end(), word);
  return found == names.end() ? std::nullopt : std::optional(static_cast<Enum>(found - names.begin()));
}

}  // namespace

std::optional<FailureKind> failure_kind(std::string_view word) {
  return named<FailureKind>(word, kKinds);
}
std::optional<FailureScope> failure_scope(std::string_view word) {
  return named<FailureScope>(word, kScopes);
}
std::string_view name_of(FailureKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}
std::string_view name_of(FailureScope scope) {
  return kScopes[static_cast<std::size_t>(scope)];
}

}  // namespace reseq::codec
