// Rows from bytes that nobody vouches for: refused, or read as a row whose encoding is these very bytes. So nothing is
// lost by reading and writing again, and no two encodings mean the same. Half of the inputs get a right checksum,
// because no fuzzer guesses one.
#include "base/assert.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "pieces.h"
#include "row_checks.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

std::string document_key(const std::string& id) {
  std::string key;
  codec::append_document_key(id, codec::KeyedHash(HashKey()), key);
  return key;
}

void check_document(const std::string& key, const std::string& id, const std::string& value) {
  check_row_of<codec::DocumentRow>(key, value, codec::decode_row,
                                   [](std::string_view row_key, const codec::DocumentRow& found, std::string& out) {
                                     codec::encode_row(row_key, found.id, found.row, out);
                                   });
  (void)codec::timer_of(value);
  const auto decoded = codec::decode_row(key, value);
  const auto* found = std::get_if<codec::DocumentRow>(&decoded);
  if (found == nullptr) return;
  RESEQ_ASSERT(codec::is_watermark(value) == found->row.completed(), "a watermark that is none");
  const bool has_timer = !found->row.completed() && found->row.deadline.value() != 0 && !found->row.overdue;
  RESEQ_ASSERT(codec::timer_of(value) == (has_timer ? std::optional(found->row.deadline) : std::nullopt),
               "a timer that its row does not have");
  // Under a hashed key the row says which document it is; the store compares.
  if (!codec::key_is_hashed(id)) RESEQ_ASSERT(found->id == id, "a row of another document");
}

}  // namespace

void fuzz_row(std::string_view input) {
  Pieces pieces(input);
  const std::uint8_t choice = pieces.byte();
  std::string id = (choice & 4U) != 0 ? pieces.text() : "doc-1";
  if (id.empty() || id.size() > kMaxIdBytes) id = "doc-1";
  const std::string key = (choice & 16U) != 0 ? pieces.text() : document_key(id);
  std::string value(pieces.rest());
  const bool is_document = (choice & 3U) == 0;
  const std::string_view keys[] = {key, codec::meta_key(), codec::identity_key(), codec::target_table_key()};
  if ((choice & 8U) == 0) seal(keys[choice & 3U], "", value);
  if (is_document && (choice & 16U) == 0) return check_document(key, id, value);
  switch (choice & 3U) {
    case 0:
      (void)codec::decode_row(key, value);
      return;
    case 1:
      return check_row_of<Meta>(codec::meta_key(), value, codec::decode_meta, codec::encode_meta);
    case 2:
      return check_row_of<Identity>(codec::identity_key(), value, codec::decode_identity, codec::encode_identity);
    default:
      return check_row_of<TargetTable>(codec::target_table_key(), value, codec::decode_targets, codec::encode_targets);
  }
}

}  // namespace reseq::fuzz
