#include "base/id_hash.h"

#include <array>
#include <sys/random.h>
#define XXH_INLINE_ALL  // ids are short: a call costs as much as the hash
#include <xxhash.h>

#include "base/assert.h"

namespace reseq {
namespace {

constexpr std::size_t kSecretBytes = 192;  // as XXH3's own

using Secret = std::array<unsigned char, kSecretBytes>;

Secret draw_secret() {
  Secret secret{};
  const ssize_t drawn = ::getrandom(secret.data(), secret.size(), 0);
  RESEQ_ASSERT(drawn == static_cast<ssize_t>(secret.size()), "the kernel gave no random bytes");
  return secret;
}

}  // namespace

std::size_t IdHash::operator()(std::string_view id) const {
  static const Secret secret = draw_secret();
  return XXH3_64bits_withSecret(id.data(), id.size(), secret.data(), secret.size());
}

}  // namespace reseq
