// Hashes: keyed 128-bit hashes of ids and rows, the payload hash, and the partitioners of Kafka's clients.
// All are pure; their results are part of the state or of the wire, so they never change (golden tests).
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/command.h"
#include "model/ids.h"
#include "model/partition_state.h"

namespace reseq::codec {

// The key of a row, and its hash, which several look-ups and the digest share.
struct HashedKey {
  std::string_view bytes;
  Digest hash;
};

// 128 bits, keyed with a per-state random key, so that ids cannot be chosen to collide: XXH3_128bits with a secret of
// 192 bytes (xxHash 0.8, whose output is stable). The secret is XXH3_128bits(key, i u8) for i = 0 .. 11, big-endian,
// one behind the other.
class KeyedHash {
 public:
  explicit KeyedHash(const HashKey& key);
  [[nodiscard]] Digest operator()(std::string_view bytes) const;
  // Of a changelog record: the hash of hash(key), hash(value) and both lengths (each number u64 little-endian, low half
  // of a hash first), so that no two records share a reading.
  [[nodiscard]] Digest of_record(std::string_view key, std::string_view value) const {
    return of_record(hashed(key), value);
  }
  [[nodiscard]] Digest of_record(const HashedKey& key, std::string_view value) const;
  // What an input is known by: half of the hash of its record, null as empty.
  [[nodiscard]] std::uint64_t of_input(std::optional<std::string_view> key,
                                       std::optional<std::string_view> payload) const {
    return of_record(key.value_or(std::string_view()), payload.value_or(std::string_view())).low;
  }
  [[nodiscard]] HashedKey hashed(std::string_view key) const { return {key, (*this)(key)}; }

 private:
  unsigned char secret_[192];
};

// Digest arithmetic is mod 2^128.
[[nodiscard]] Digest add(Digest a, Digest b);
[[nodiscard]] Digest subtract(Digest a, Digest b);

// What a request asks for: over op, null-ness and bytes of its payload, and those of its headers that are named, each
// with its name, whether it is there or null, and its value; of a doubled one the last. Two requests with other names
// never ask for the same. KeyedHash of: (1 if delete) + (2 if not null) u8, KeyedHash of the payload, then of each
// name its bytes, 0 if absent, 1 if null, 2 u8, and its value; lengths in front of names and values. Numbers are u64
// little-endian, low half of a hash first.
[[nodiscard]] Digest content_hash(const KeyedHash& hash, Op op, std::optional<std::string_view> payload,
                                  std::span<const Header> headers, std::span<const std::string> names);

// Over op, null-ness and bytes of a request's payload: XXH3_64bits with seed (1 if delete) + (2 if not null).
[[nodiscard]] PayloadHash payload_hash(Op op, std::optional<std::string_view> payload);

// The hash of Java's default partitioner: murmur2 with seed 0x9747b28c (org.apache.kafka.common.utils.Utils), as it is,
// before it is made positive.
[[nodiscard]] std::uint32_t murmur2(std::string_view key);
// CRC-32 of zlib: the hash of librdkafka's `consistent`.
[[nodiscard]] std::uint32_t crc32(std::string_view key);
// Partition of a key: kMurmur2 (murmur2 & 0x7fffffff) % partitions, kCrc32 crc32 % partitions.
// REQUIRES: partitioner is not kUnchecked; partitions > 0.
[[nodiscard]] Partition partition_of(std::string_view key, Partitioner partitioner, std::int32_t partitions);

}  // namespace reseq::codec
