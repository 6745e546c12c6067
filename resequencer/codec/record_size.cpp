#include "codec/record_size.h"

#include <algorithm>

#include "codec/header_names.h"

namespace reseq::codec {
namespace {

// Kafka's message format v2: a batch header of 61 bytes; in front of each field of a record a zigzag varint of 32 bits,
// at most 5 bytes (length, offset delta, key length, value length, header count), the timestamp delta at most 10, and
// one byte of attributes.
constexpr std::uint64_t kVarintMax = 5;
constexpr std::uint64_t kEmptyRecord = 61 + 5 * kVarintMax + 10 + 1;

constexpr std::size_t kU32Digits = 10;
constexpr std::size_t kU64Digits = 20;
constexpr std::size_t kOpBytes = 6;

constexpr std::uint64_t added(std::string_view name, std::size_t value_bytes) {
  return 2 * kVarintMax + name.size() + value_bytes;
}

}  // namespace

std::uint64_t header_bytes_max(std::size_t name_bytes, std::size_t value_bytes) {
  return 2 * kVarintMax + name_bytes + value_bytes;
}

std::uint64_t record_bytes_max(std::size_t key_bytes, std::size_t value_bytes, std::span<const Header> headers) {
  std::uint64_t bytes = kEmptyRecord + key_bytes + value_bytes;
  for (const Header& header : headers)
    bytes += header_bytes_max(header.name.size(), header.value ? header.value->size() : 0);
  return bytes;
}

std::uint64_t added_bytes_max(const TargetTable& targets, std::size_t subject_bytes) {
  std::size_t names = 0;
  std::size_t longest = 0;
  for (const std::string& name : targets.names()) {
    names += name.size() + 1;
    longest = std::max(longest, name.size());
  }
  constexpr std::uint64_t kOp = added(header::kOp, kOpBytes);
  constexpr std::uint64_t kForward = added(header::kEpoch, kU32Digits) + added(header::kRevision, kU64Digits) + kOp;
  constexpr std::uint64_t kRelease = added(header::kVersion, kU64Digits) + kOp;
  const std::uint64_t least =
      std::max(kForward + added(header::kTargets, names), kRelease + added(header::kTarget, longest));
  if (subject_bytes == 0) return least;
  return least + added(header::kCeSubject, subject_bytes) + added(header::kCeSequence, kU64Digits);
}

std::uint64_t marker_bytes_max(std::size_t id_bytes, std::size_t error_bytes) {
  constexpr std::size_t kEscapeMax = 6;         // bytes that one takes in JSON
  constexpr std::size_t kHeadersMax = 13 * 64;  // those of a CloudEvent among them; the longest name is a target's
  constexpr std::size_t kTargetMax = 100;
  constexpr std::size_t kNoteMax = 160;  // without the error
  const std::size_t subject = added(header::kCeSubject, id_bytes);
  return kEmptyRecord + id_bytes + subject + kHeadersMax + kTargetMax + kNoteMax + (kEscapeMax + 1) * error_bytes;
}

std::uint64_t dispatch_bytes_max() {
  return added(header::kAttempt, kU32Digits) + added(header::kLeaseUntil, kU64Digits);
}

}  // namespace reseq::codec
