#include "codec/row_kinds.h"

#include <variant>

#include "codec/held_rows.h"
#include "codec/place_row.h"
#include "codec/task_row.h"

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

template <Count kCount>
CountSet always(std::string_view /*value*/) {
  return CountSet::of(kCount);
}

std::optional<UnixMs> untimed(std::string_view /*value*/) {
  return std::nullopt;
}

constexpr auto kOneHeld = always<Count::kHeldRecords>;
constexpr auto kOnePiece = always<Count::kHeldPieces>;
constexpr auto kOneTask = always<Count::kTasks>;

}  // namespace

// clang-format off
const std::array<RowKind, 8> kRowKinds = {{
    // type               realm  name            removable  summed  check                    counted         timer
    //  held  entries
    {KeyType::kDocument,  0,     "document",     true,      true,   check<decode_row>,       count_document, timer_of,
        false, each_document_entry},
    {KeyType::kMeta,      0,     "meta",         false,     false,  check<decode_meta>,      uncounted,      untimed},
    {KeyType::kTargets,   0,     "target table", false,     true,   check<decode_targets>,   uncounted,      untimed},
    {KeyType::kIdentity,  0,     "identity",     false,     true,   check<decode_identity>,  uncounted,      untimed},
    {KeyType::kHeld,      0,     "held record",  true,      true,   check<decode_held>,      kOneHeld,       untimed,
        true, each_index_entry},
    {KeyType::kPiece,     0,     "held piece",   true,      true,   check<decode_piece>,     kOnePiece,      untimed,
        true},
    {KeyType::kTask,      0,     "task",         true,      true,   check<decode_task>,      kOneTask,       untimed},
    {KeyType::kPlace,     0,     "place",        true,      true,   check<decode_place>,     count_place,    untimed,
        false, each_place_entry},
}};
// clang-format on

const RowKind* rare_row_kind_of(std::string_view key) {
  for (const RowKind& kind : kRowKinds)
    if (key[0] == static_cast<char>(kind.type) && key[1] == kind.realm) return &kind;
  return nullptr;
}

// Sums wrap around as they are subtracted from.
void count_held(std::string_view key, std::size_t old, std::size_t fresh, Counts& counts) {
  counts[Count::kHeldBytes] += fresh - old;
  if (gate_of(key) == kLanesGate) counts[Count::kResultBytes] += fresh - old;
}

}  // namespace reseq::codec
