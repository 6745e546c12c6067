#include "store/checkpoint_record.h"

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/hash.h"

namespace reseq::store {
namespace {

constexpr char kFormat = 1;
constexpr char kFormatOfMore = 2;        // counts
constexpr char kFormatOfPriorities = 3;  // and counts
constexpr std::size_t kNumbers = 8;
constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kBytes = 1 + kNumbers * 8 + kChecksumBytes;
constexpr std::size_t kCountBytes = 1 + 8;
constexpr std::size_t kPriorityBytes = 1 + 2 * 8;

void append_checksum(std::string& out) {
  const std::uint32_t sum = codec::crc32(out);
  for (unsigned shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(sum >> shift));
}

char format_of(const Summary& summary) {
  if (!summary.priorities.empty()) return kFormatOfPriorities;
  return summary.counts.any_rare() ? kFormatOfMore : kFormat;
}

std::uint8_t rare_counts(const Counts& counts) {
  std::uint8_t number = 0;
  counts.each_rare([&](Count, std::uint64_t) { ++number; });
  return number;
}

bool has_length_of_its_format(std::string_view bytes) {
  if (bytes.size() < kBytes) return false;
  const std::size_t more = bytes.size() - kBytes;
  if (bytes.front() == kFormat) return more == 0;
  if (bytes.front() == kFormatOfMore) return more != 0 && more % kCountBytes == 0;
  if (more == 0) return false;
  const std::size_t counts = 1 + static_cast<std::uint8_t>(bytes[kBytes - kChecksumBytes]) * kCountBytes;
  return more > counts && (more - counts) % kPriorityBytes == 0;
}

// False: a count that this version does not know, or that nobody would write.
bool read_counts(codec::ByteReader& in, std::size_t number, Counts& counts) {
  for (std::size_t least = kFirstRareCount; number > 0; --number) {
    const std::size_t count = in.u8();
    const std::uint64_t sum = in.fixed64();
    if (count < least || count >= kCounts || sum == 0) return false;
    counts[static_cast<Count>(count)] = sum;
    least = count + 1;
  }
  return true;
}

bool read_priorities(codec::ByteReader& in, std::vector<PriorityCount>& priorities) {
  while (!in.rest().empty()) {
    const PriorityCount one{in.u8(), in.fixed64(), in.fixed64()};
    if (one.waiting == 0 && one.processing == 0) return false;
    if (!priorities.empty() && priorities.back().priority >= one.priority) return false;
    priorities.push_back(one);
  }
  return true;
}

}  // namespace

std::string encode_checkpoint(const CheckpointRecord& record) {
  std::string out(1, format_of(record.summary));
  codec::ByteWriter writer(out);
  writer.fixed64(static_cast<std::uint64_t>(record.checkpoint.position.value()));
  writer.fixed64(record.checkpoint.last_record.low);
  writer.fixed64(record.checkpoint.last_record.high);
  writer.fixed64(record.checkpoint.generation);
  writer.fixed64(record.summary.digest.low);
  writer.fixed64(record.summary.digest.high);
  writer.fixed64(record.summary.counts[Count::kLiveRows]);
  writer.fixed64(record.summary.counts[Count::kWatermarks]);
  if (!record.summary.priorities.empty()) writer.u8(rare_counts(record.summary.counts));
  record.summary.counts.each_rare([&](Count count, std::uint64_t sum) {
    writer.u8(static_cast<std::uint8_t>(count));
    writer.fixed64(sum);
  });
  for (const PriorityCount& one : record.summary.priorities) {
    writer.u8(one.priority);
    writer.fixed64(one.waiting);
    writer.fixed64(one.processing);
  }
  writer.finish();
  append_checksum(out);
  return out;
}

Result<CheckpointRecord> decode_checkpoint(std::string_view bytes) {
  if (bytes.empty()) return Error{ErrorClass::kInvalid, 0, "state: the checkpoint record is empty"};
  if (bytes.front() < kFormat || bytes.front() > kFormatOfPriorities)
    return Error{ErrorClass::kInvalid, 0, "state: the checkpoint record is of another version or damaged"};
  if (!has_length_of_its_format(bytes))
    return Error{ErrorClass::kInvalid, 0, "state: the checkpoint record has a wrong length"};
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
  const bool prioritized = bytes.front() == kFormatOfPriorities;
  const std::size_t counts = prioritized ? reader.u8() : reader.rest().size() / kCountBytes;
  if (!read_counts(reader, counts, record.summary.counts))
    return Error{ErrorClass::kInvalid, 0, "state: the checkpoint record has a count that this version does not know"};
  if (!read_priorities(reader, record.summary.priorities))
    return Error{ErrorClass::kInvalid, 0, "state: the checkpoint record has priorities that nobody would write"};
  return record;
}

}  // namespace reseq::store
