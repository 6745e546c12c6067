#include "base/id_hash.h"

#include <array>
#include <cstring>
#include <sys/random.h>
#include <xxhash.h>

#include "base/assert.h"

namespace reseq {
namespace {

constexpr std::size_t kDrawnBytes = 16;
constexpr std::size_t kSecretBytes = 192;

using Secret = std::array<unsigned char, kSecretBytes>;

// Stretched as codec/hash.cpp stretches the key of a state.
Secret make_secret() {
  std::array<unsigned char, kDrawnBytes> drawn{};
  const ssize_t size = ::getrandom(drawn.data(), drawn.size(), 0);
  RESEQ_ASSERT(size == static_cast<ssize_t>(drawn.size()), "the kernel gave no random bytes");
  Secret secret{};
  for (std::size_t i = 0; i < kSecretBytes / sizeof(XXH128_hash_t); ++i) {
    const XXH128_hash_t part = XXH3_128bits_withSeed(drawn.data(), drawn.size(), i);
    std::memcpy(secret.data() + i * sizeof part, &part, sizeof part);
  }
  return secret;
}

}  // namespace

std::size_t IdHash::operator()(std::string_view id) const {
  static const Secret secret = make_secret();
  return XXH3_64bits_withSecret(id.data(), id.size(), secret.data(), secret.size());
}

}  // namespace reseq
