#include "engine/gate.h"

#include <variant>

#include "base/assert.h"
#include "codec/held_rows.h"
#include "codec/keys.h"

namespace reseq::engine {

bool GateBatch::let_through(const std::string& key, DocumentId id, const Forward& held) {
  const auto value = rows_.find(key);
  if (!value) return false;
  const auto decoded = codec::decode_held(key, *value);
  const auto* row = std::get_if<codec::HeldRow>(&decoded);
  if (row == nullptr) return false;
  HeldForward leaving{key, held, row->bytes, row->record_bytes, {}};
  if (row->reference) {
    const References::Found found = turn_.found(*row);
    RESEQ_ASSERT(found != References::Found::kUnread, "a reference let through before its record was read again");
    if (found == References::Found::kGone) leaving.gone = row->offset;
  }
  for (std::uint32_t number = 1; number <= row->further_pieces; ++number) rows_.remove(codec::piece_key(key, number));
  rows_.remove(key);
  return dispatch_.let_through(overlay_.find_copied(id), leaving, context_, overlay_);
}

}  // namespace reseq::engine
