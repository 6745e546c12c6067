#include "codec/hash.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#define XXH_INLINE_ALL  // most of what is hashed has some twenty bytes: a call costs as much as the hash
#include <xxhash.h>

#include "base/assert.h"

namespace reseq::codec {
namespace {

Digest digest_of(XXH128_hash_t hash) {
  return {hash.low64, hash.high64};
}

void put_u64(unsigned char* place, std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(place, &value, sizeof value);
  } else {
    for (unsigned i = 0; i < 8; ++i) place[i] = static_cast<unsigned char>(value >> (8 * i));
  }
}

std::uint32_t little_endian_u32(const char* bytes) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
    table[i] = value;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

}  // namespace

KeyedHash::KeyedHash(const HashKey& key) {
  unsigned char seed[17];
  std::memcpy(seed, key.bytes.data(), key.bytes.size());
  for (unsigned char i = 0; i < 12; ++i) {
    seed[16] = i;
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(seed, sizeof seed));
    std::memcpy(secret_ + 16 * i, canonical.digest, sizeof canonical.digest);
  }
}

Digest KeyedHash::operator()(std::string_view bytes) const {
  return digest_of(XXH3_128bits_withSecret(bytes.data(), bytes.size(), secret_, sizeof secret_));
}

Digest KeyedHash::of_record(const HashedKey& key, std::string_view value) const {
  const Digest of_value = (*this)(value);
  unsigned char both[48];
  put_u64(both, key.hash.low);
  put_u64(both + 8, key.hash.high);
  put_u64(both + 16, of_value.low);
  put_u64(both + 24, of_value.high);
  put_u64(both + 32, key.bytes.size());
  put_u64(both + 40, value.size());
  return digest_of(XXH3_128bits_withSecret(both, sizeof both, secret_, sizeof secret_));
}

Digest add(Digest a, Digest b) {
  const std::uint64_t low = a.low + b.low;
  return {low, a.high + b.high + (low < a.low ? 1 : 0)};
}

Digest subtract(Digest a, Digest b) {
  return {a.low - b.low, a.high - b.high - (a.low < b.low ? 1 : 0)};
}

Digest content_hash(const KeyedHash& hash, Op op, std::optional<std::string_view> payload,
                    std::span<const Header> headers, std::span<const std::string> names) {
  std::string all(1, static_cast<char>((op == Op::kDelete ? 1 : 0) + (payload ? 2 : 0)));
  const auto put_number = [&](std::uint64_t number) {
    unsigned char bytes[sizeof number];
    put_u64(bytes, number);
    all.append(reinterpret_cast<const char*>(bytes), sizeof bytes);
  };
  const auto put_text = [&](std::string_view text) {
    put_number(text.size());
    all += text;
  };
  const Digest of_payload = hash(payload.value_or(std::string_view()));
  put_number(of_payload.low);
  put_number(of_payload.high);
  for (const std::string& name : names) {
    put_text(name);
    const auto last =
        std::find_if(headers.rbegin(), headers.rend(), [&](const Header& header) { return header.name == name; });
    const bool is_there = last != headers.rend();
    all += static_cast<char>(!is_there ? 0 : last->value ? 2 : 1);
    put_text(is_there ? last->value.value_or(std::string_view()) : std::string_view());
  }
  return hash(all);
}

PayloadHash payload_hash(Op op, std::optional<std::string_view> payload) {
  const std::uint64_t seed = (op == Op::kDelete ? 1U : 0U) + (payload ? 2U : 0U);
  const std::string_view bytes = payload.value_or(std::string_view());
  return PayloadHash(XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed));
}

std::uint32_t murmur2(std::string_view key) {
  constexpr std::uint32_t kSeed = 0x9747b28c;
  constexpr std::uint32_t kFactor = 0x5bd1e995;
  std::uint32_t hash = kSeed ^ static_cast<std::uint32_t>(key.size());
  const std::size_t whole = key.size() / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    std::uint32_t word = little_endian_u32(key.data() + i) * kFactor;
    word ^= word >> 24;
    hash = (hash * kFactor) ^ (word * kFactor);
  }
  if (whole != key.size()) {
    std::uint32_t rest = 0;
    for (std::size_t i = key.size(); i > whole; --i) rest = (rest << 8) | static_cast<unsigned char>(key[i - 1]);
    hash = (hash ^ rest) * kFactor;
  }
  hash = (hash ^ (hash >> 13)) * kFactor;
  return hash ^ (hash >> 15);
}

std::uint32_t crc32(std::string_view key) {
  std::uint32_t value = 0xFFFFFFFFU;
  for (const char c : key) value = kCrcTable[(value ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (value >> 8);
  return value ^ 0xFFFFFFFFU;
}

Partition partition_of(std::string_view key, Partitioner partitioner, std::int32_t partitions) {
  RESEQ_ASSERT(partitions > 0, "a partition among none");
  RESEQ_ASSERT(partitioner != Partitioner::kUnchecked, "the partition of a key that nothing decides");
  const std::uint32_t hash = partitioner == Partitioner::kMurmur2 ? murmur2(key) & 0x7fffffffU : crc32(key);
  return Partition(static_cast<std::int32_t>(hash % static_cast<std::uint32_t>(partitions)));
}

}  // namespace reseq::codec
