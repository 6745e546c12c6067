// Keys of documents: any two ids give keys within the limits that compare as the ids do; any bytes are the one key of
// some document or no key.
#include "base/assert.h"
#include "codec/keys.h"
#include "pieces.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

const codec::KeyedHash& hash() {
  static const codec::KeyedHash keyed{HashKey()};
  return keyed;
}

std::string key_of(const std::string& id) {
  std::string key;
  codec::append_document_key(id, hash(), key);
  const auto parsed = codec::parse_key(key);
  RESEQ_ASSERT(parsed && parsed->type == codec::KeyType::kDocument, "a key that is none");
  RESEQ_ASSERT(parsed->hashed == codec::key_is_hashed(id), "a key of the wrong kind");
  RESEQ_ASSERT(parsed->name == (parsed->hashed ? id.substr(0, codec::kHashedPrefixBytes) : id), "another id");
  RESEQ_ASSERT(key.size() >= 6 && key.size() + codec::kSubReserve <= codec::kMaxKeyBytes, "a key outside its limits");
  return key;
}

bool is_id(const std::string& id) {
  return !id.empty() && id.size() <= kMaxIdBytes;
}

void check_bytes(std::string_view bytes) {
  const auto parsed = codec::parse_key(bytes);
  if (!parsed) return;
  RESEQ_ASSERT(bytes.size() >= 6 && bytes.size() <= codec::kMaxKeyBytes, "a key outside its limits");
  if (parsed->type == codec::KeyType::kDocument && !parsed->hashed)
    RESEQ_ASSERT(key_of(parsed->name) == bytes, "a document with two keys");
}

}  // namespace

void fuzz_key(std::string_view input) {
  check_bytes(input);
  Pieces pieces(input);
  const std::string a = pieces.text();
  const std::string b = pieces.text();
  if (!is_id(a) || !is_id(b)) return;
  const std::string key_a = key_of(a);
  const std::string key_b = key_of(b);
  if (!codec::key_is_hashed(a) && !codec::key_is_hashed(b))
    RESEQ_ASSERT((a <=> b) == (key_a <=> key_b), "keys that do not compare as their ids do");
  if (codec::key_is_hashed(a) != codec::key_is_hashed(b)) RESEQ_ASSERT(key_a != key_b, "two documents under one key");
}

}  // namespace reseq::fuzz
