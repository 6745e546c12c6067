#include "store/checkpoint_record.h"

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/hash.h"

namespace reseq::store {
namespace {

constexpr char kFormat = 1;
constexpr char kFormatOfMore = 2;  // counts
constexpr std::size_t kNumbers = 8;
constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kBytes = 1 + kNumbers * 8 + kChecksumBytes;
constexpr std::size_t kCountBytes = 1 + 8;

void append_checksum(std::string& out) {
  const std::uint32_t sum = codec::crc32(out);
  for (unsigned shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(sum >> shift));
}

}  // namespace

std::string encode_checkpoint(const CheckpointRecord& record) {
  std::string out(1, record.summary.counts.any_rare() ? kFormatOfMore : kFormat);
  codec::ByteWriter writer(out);
  writer.fixed64(static_cast<std::uint64_t>(record.checkpoint.position.value()));
  writer.fixed64(record.checkpoint.last_record.low);
  writer.fixed64(record.checkpoint.last_record.high);
  writer.fixed64(record.checkpoint.generation);
  writer.fixed64(record.summary.digest.low);
  writer.fixed64(record.summary.digest.high);
  writer.fixed64(record.summary.counts[Count::kLiveRows]);
  writer.fixed64(record.summary.counts[Count::kWatermarks]);
  record.summary.counts.each_rare([&](Count count, std::uint64_t sum) {
    writer.u8(static_cast<std::uint8_t>(count));
    writer.fixed64(sum);
  });
  writer.finish();
  append_checksum(out);
  return out;
}

Result<CheckpointRecord> decode_checkpoint(std::string_view bytes) {
  if (bytes.empty()) return Error{ErrorClass::kInvalid, 0, "state: the checkpoint record is empty"};
  const bool more = bytes.front() == kFormatOfMore;
  if (bytes.front() != kFormat && !more)
    return Error{ErrorClass::kInvalid, 0, "state: the checkpoint record is of another version or damaged"};
  const bool fits = more ? bytes.size() > kBytes && (bytes.size() - kBytes) % kCountBytes == 0 : bytes.size() == kBytes;
  if (!fits) return Error{ErrorClass::kInvalid, 0, "state: the checkpoint record has a wrong length"};
  std::string sealed(bytes.substr(0, bytes.size() - kChecksumBytes));
  append_checksum(sealed);
  if (sealed != bytes) return Error{ErrorClass::kInvalid, 0, "state: the checkpoint record fails its checksum"};

  codec::ByteReader reader(bytes.substr(1, bytes.size() - 1 - kChecksumBytes));
  CheckpointRecord record;
  record.checkpoint.position = Offset(static_cast<std::int64_t>(reader.fixed64()));
  record.checkpoint.last_record.low = reader.fixed64();
  record.checkpoint.last_record.high = reader.fixed64();
  record.checkpoint.generation = reader.fixed64();
  record.summary.digest.low = reader.fixed64();
  record.summary.digest.high = reader.fixed64();
  record.summary.counts[Count::kLiveRows] = reader.fixed64();
  record.summary.counts[Count::kWatermarks] = reader.fixed64();
  for (std::size_t least = kFirstRareCount; !reader.rest().empty();) {
    const std::size_t count = reader.u8();
    const std::uint64_t sum = reader.fixed64();
    if (count < least || count >= kCounts || sum == 0)
      return Error{ErrorClass::kInvalid, 0, "state: the checkpoint record has a count that this version does not know"};
    record.summary.counts[static_cast<Count>(count)] = sum;
    least = count + 1;
  }
  return record;
}

}  // namespace reseq::store
