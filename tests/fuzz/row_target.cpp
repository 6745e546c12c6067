// Rows from bytes that nobody vouches for: refused, or read as a row whose encoding is these very bytes. So nothing is
// lost by reading and writing again, and no two encodings mean the same. Half of the inputs get a right checksum,
// because no fuzzer guesses one.
#include "base/assert.h"
#include "codec/keys.h"
#include "codec/row_frame.h"
#include "codec/rows.h"
#include "pieces.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

using codec::Decoded;
using codec::RowError;

std::string document_key(const std::string& id) {
  std::string key;
  codec::append_document_key(id, codec::KeyedHash(HashKey()), key);
  return key;
}

void seal(std::string_view key, std::string_view extensions, std::string& value) {
  codec::ByteWriter writer(value);
  codec::seal(key, extensions, 0, writer);
}

std::string_view extensions_of(const codec::DocumentRow& row) {
  return row.row.extensions;
}

std::string_view extensions_of(const TargetTable& table) {
  return table.extensions();
}

template <typename Value>
std::string_view extensions_of(const Value& value) {
  return value.extensions;
}

// Tags rise within a row, and an input may already hold the highest of all.
constexpr std::uint64_t kFirstAddedTag = INT64_MAX - 3;

bool has_room(std::string_view extensions) {
  codec::ByteReader list(extensions);
  std::uint64_t last = 0;
  while (!list.rest().empty()) {
    last = list.varint();
    (void)list.bytes();
  }
  return last < kFirstAddedTag;
}

// What an older version must refuse and what it must keep, shown by adding an extension behind all others.
template <typename Decode>
void check_extensions(std::string_view key, const std::string& value, Decode decode) {
  const auto with = [&](std::uint64_t tag) {
    std::string extension;
    codec::ByteWriter writer(extension);
    writer.varint(tag);
    writer.bytes("?");
    writer.finish();
    std::string longer = value.substr(0, value.size() - codec::kChecksumBytes);
    seal(key, extension, longer);
    return decode(key, longer);
  };
  const auto with_optional = with(kFirstAddedTag);
  RESEQ_ASSERT(!std::holds_alternative<RowError>(with_optional), "an optional extension made a row unreadable");
  const auto with_mandatory = with(kFirstAddedTag + 1);
  const auto* error = std::get_if<RowError>(&with_mandatory);
  RESEQ_ASSERT(error != nullptr && *error == RowError::kUnknownMandatory,
               "an extension that must be understood was ignored");
}

template <typename Value, typename Encode>
void check(std::string_view key, const std::string& value, Decoded<Value> (*decode)(std::string_view, std::string_view),
           Encode encode) {
  const Decoded<Value> decoded = decode(key, value);
  if (const auto* error = std::get_if<RowError>(&decoded)) {
    RESEQ_ASSERT(!codec::name_of(*error).empty(), "an error without a name");
    return;
  }
  RESEQ_ASSERT(codec::is_intact(key, value), "a row that was read although it is damaged");
  std::string again;
  encode(key, std::get<Value>(decoded), again);
  RESEQ_ASSERT(again == value, "a row with two encodings");
  if (has_room(extensions_of(std::get<Value>(decoded)))) check_extensions(key, value, decode);
}

void check_document(const std::string& key, const std::string& id, const std::string& value) {
  check<codec::DocumentRow>(key, value, codec::decode_row,
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
      return check<Meta>(codec::meta_key(), value, codec::decode_meta, codec::encode_meta);
    case 2:
      return check<Identity>(codec::identity_key(), value, codec::decode_identity, codec::encode_identity);
    default:
      return check<TargetTable>(codec::target_table_key(), value, codec::decode_targets, codec::encode_targets);
  }
}

}  // namespace reseq::fuzz
