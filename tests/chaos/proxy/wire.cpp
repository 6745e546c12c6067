#include "tests/chaos/proxy/wire.h"

#include <algorithm>
#include <utility>

namespace reseq::chaos {

namespace {

constexpr std::size_t kSizeBytes = 4;
constexpr std::size_t kFrameMax = std::size_t{128} * 1024 * 1024;  // brokers refuse requests above 100 MiB

std::size_t frame_size(std::string_view bytes) {
  return static_cast<std::uint32_t>(WireReader(bytes).i32());
}

// Where the transactional id stands, if this version of this kind has one as the first field of its body.
enum class IdField : std::uint8_t { kNone, kText, kCompact };

IdField id_field(Api api, std::int16_t version) {
  const auto flexible_from = [version](std::int16_t first) {
    return version >= first ? IdField::kCompact : IdField::kText;
  };
  switch (api) {
    case Api::kProduce:
      return version < 3 ? IdField::kNone : flexible_from(9);
    case Api::kInitProducerId:
      return flexible_from(2);
    case Api::kAddPartitionsToTxn:  // from version 4 on it is one of brokers, about several producers
      return version > 3 ? IdField::kNone : flexible_from(3);
    case Api::kAddOffsetsToTxn:
    case Api::kEndTxn:
    case Api::kTxnOffsetCommit:
      return flexible_from(3);
    default:
      return IdField::kNone;
  }
}

}  // namespace

std::string_view WireReader::take(std::size_t bytes) {
  if (bytes > rest_.size()) good_ = false;
  if (!good_) return {};
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::uint64_t WireReader::number(std::size_t bytes) {
  std::uint64_t value = 0;
  for (const char byte : take(bytes)) value = value << 8 | static_cast<std::uint8_t>(byte);
  return value;
}

std::uint32_t WireReader::varint() {
  std::uint32_t value = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(i8());
    value |= static_cast<std::uint32_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  good_ = false;
  return 0;
}

std::string WireReader::text() {
  const std::int16_t length = i16();
  return length < 0 ? std::string() : std::string(take(static_cast<std::size_t>(length)));
}

std::string WireReader::compact_text() {
  const std::uint32_t length = varint();
  return length == 0 ? std::string() : std::string(take(length - 1));
}

void WireReader::skip_tags() {
  for (std::uint32_t count = varint(); count > 0 && good_; --count) {
    (void)varint();
    skip(varint());
  }
}

WireWriter& WireWriter::number(std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = bytes; i > 0; --i) bytes_.push_back(static_cast<char>(value >> (8 * (i - 1)) & 0xFFU));
  return *this;
}

WireWriter& WireWriter::varint(std::uint32_t value) {
  for (; value >= 0x80U; value >>= 7U) i8(static_cast<std::int8_t>(value | 0x80U));
  return i8(static_cast<std::int8_t>(value));
}

WireWriter& WireWriter::text(std::string_view value) {
  i16(static_cast<std::int16_t>(value.size()));
  bytes_.append(value);
  return *this;
}

WireWriter& WireWriter::compact_text(std::string_view value) {
  return varint(static_cast<std::uint32_t>(value.size()) + 1).raw(value);
}

WireWriter& WireWriter::raw(std::string_view bytes) {
  bytes_.append(bytes);
  return *this;
}

std::string WireWriter::frame() const {
  return WireWriter().i32(static_cast<std::int32_t>(bytes_.size())).bytes() + bytes_;
}

std::optional<RequestFacts> read_request(std::string_view frame) {
  WireReader reader(frame);
  reader.skip(kSizeBytes);
  RequestFacts facts;
  facts.api = Api{reader.i16()};
  facts.version = reader.i16();
  facts.correlation = reader.i32();
  facts.client_id = reader.text();
  if (!reader.good()) return std::nullopt;
  const IdField field = id_field(facts.api, facts.version);
  if (field == IdField::kText) facts.transactional_id = reader.text();
  if (field == IdField::kCompact) {
    reader.skip_tags();
    facts.transactional_id = reader.compact_text();
  }
  if (!reader.good()) return std::nullopt;
  return facts;
}

std::optional<std::int32_t> read_correlation(std::string_view frame) {
  WireReader reader(frame);
  reader.skip(kSizeBytes);
  const std::int32_t correlation = reader.i32();
  if (!reader.good()) return std::nullopt;
  return correlation;
}

std::int16_t end_txn_error(const RequestFacts& request, std::string_view frame) {
  WireReader reader(frame);
  reader.skip(2 * kSizeBytes);  // size, correlation
  if (request.version >= 3) reader.skip_tags();
  reader.skip(4);  // throttle time
  const std::int16_t error = reader.i16();
  return request.api == Api::kEndTxn && reader.good() ? error : std::int16_t{-1};
}

bool FrameCutter::append(std::string_view bytes, std::vector<std::string>& frames) {
  while (!bytes.empty()) {
    std::size_t missing = kSizeBytes;
    if (partial_.size() >= kSizeBytes) missing += frame_size(partial_);
    missing -= partial_.size();
    const std::size_t taken = std::min(missing, bytes.size());
    partial_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (partial_.size() < kSizeBytes) return true;
    const std::size_t size = frame_size(partial_);
    if (size < kSizeBytes || size > kFrameMax) return false;
    if (partial_.size() == kSizeBytes) partial_.reserve(kSizeBytes + size);
    if (partial_.size() == kSizeBytes + size) frames.push_back(std::exchange(partial_, {}));
  }
  return true;
}

}  // namespace reseq::chaos
