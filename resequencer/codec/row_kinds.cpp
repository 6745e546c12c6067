#include "codec/row_kinds.h"

#include <variant>

namespace reseq::codec {
namespace {

template <auto kDecode>
std::optional<RowError> check(std::string_view key, std::string_view value) {
  const auto decoded = kDecode(key, value);
  const auto* error = std::get_if<RowError>(&decoded);
  return error == nullptr ? std::nullopt : std::optional(*error);
}

CountSet uncounted(std::string_view /*value*/) {
  return {};
}

std::optional<UnixMs> untimed(std::string_view /*value*/) {
  return std::nullopt;
}

}  // namespace

// clang-format off
const std::array<RowKind, 4> kRowKinds = {{
    // type               realm  name            removable  summed  check                    counted         timer
    {KeyType::kDocument,  0,     "document",     true,      true,   check<decode_row>,       count_document, timer_of},
    {KeyType::kMeta,      0,     "meta",         false,     false,  check<decode_meta>,      uncounted,      untimed},
    {KeyType::kTargets,   0,     "target table", false,     true,   check<decode_targets>,   uncounted,      untimed},
    {KeyType::kIdentity,  0,     "identity",     false,     true,   check<decode_identity>,  uncounted,      untimed},
}};
// clang-format on

}  // namespace reseq::codec
