#include "producers/sending/fingerprint.h"

#include <xxhash.h>

namespace reseq::sending {

std::string fingerprint(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  XXH64_hash_t hash = XXH3_64bits(bytes.data(), bytes.size());
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; hash >>= 4) text[i] = kHex[hash & 15];
  return text;
}

}  // namespace reseq::sending
