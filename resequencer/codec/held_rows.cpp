#include "codec/held_rows.h"

#include <algorithm>

#include "base/assert.h"
#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/header_names.h"
#include "codec/keys.h"
#include "codec/row_frame.h"

namespace reseq::codec {
namespace {

constexpr std::uint8_t kHasKey = 1;
constexpr std::uint8_t kHasPayload = 2;
constexpr std::uint8_t kBody = 0;
constexpr std::uint8_t kReference = 1;
constexpr std::size_t kLengthBytes = 2;   // of a piece
constexpr std::size_t kWriterRoom = 256;  // so that what is written is not moved while it grows
constexpr std::size_t kPieceBytes = kHeldValueBytes - 1 - kLengthBytes - kChecksumBytes;

// Of the first piece: what is left behind `before` bytes.
std::size_t first_piece_bytes(std::size_t before, std::uint64_t record_bytes) {
  const std::size_t used = before + kLengthBytes + kChecksumBytes;
  const std::size_t room = used < kHeldValueBytes ? kHeldValueBytes - used : 0;
  return static_cast<std::size_t>(std::min<std::uint64_t>(room, record_bytes));
}

std::uint32_t pieces_of(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + kPieceBytes - 1) / kPieceBytes);
}

void write_record(const InputRecord& record, ByteWriter& out) {
  out.u8(static_cast<std::uint8_t>((record.key ? kHasKey : 0U) | (record.payload ? kHasPayload : 0U)));
  if (record.key) out.bytes(*record.key);
  out.varint(record.headers_left_out);
  out.varint(record.headers.size());
  for (const Header& header : record.headers) {
    out.bytes(header.name);
    out.u8(header.value ? 1 : 0);
    if (header.value) out.bytes(*header.value);
  }
  if (record.payload) out.raw(*record.payload);
}

Header read_header(ByteReader& in) {
  Header header;
  header.name = in.bytes();
  const std::uint8_t has_value = in.u8();
  in.require(has_value <= 1);
  if (has_value == 1) header.value = in.bytes();
  return header;
}

// What stands before its headers; its flags.
std::uint8_t read_beginning(ByteReader& in, InputRecord& record) {
  const std::uint8_t flags = in.u8();
  in.require((flags & ~(kHasKey | kHasPayload)) == 0);
  if ((flags & kHasKey) != 0) record.key = in.bytes();
  record.headers_left_out = in.varint32();
  return flags;
}

// False: it is no record.
bool read_record(std::string_view bytes, InputRecord& record, Arena& arena) {
  ByteReader in(bytes);
  const std::uint8_t flags = read_beginning(in, record);
  const std::size_t count = in.count();
  std::vector<Header> headers;
  headers.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) headers.push_back(read_header(in));
  if ((flags & kHasPayload) != 0) {
    record.payload = in.rest();
  } else {
    in.require(in.rest().empty());
  }
  if (!in.ok()) return false;
  record.headers = arena.copy(std::span<const Header>(headers));
  return true;
}

struct Head {
  std::span<const IndexEntry> entries;
  std::string_view note;
  Role role;
  Partition partition;
  Offset offset;
  UnixMs timestamp;
  std::uint64_t bytes;
};

void write_head(const Head& head, ByteWriter& out) {
  std::size_t entries_bytes = 0;
  for (const IndexEntry& entry : head.entries) {
    RESEQ_ASSERT(entry.index < kIndexes && entry.bytes.size() <= kMaxIndexEntryBytes, "an entry outside its limits");
    entries_bytes += 1 + bytes_size(entry.bytes);
  }
  out.u8(kRowFormat);
  out.varint(entries_bytes);
  for (const IndexEntry& entry : head.entries) {
    out.u8(entry.index);
    out.bytes(entry.bytes);
  }
  out.bytes(head.note);
  out.u8(static_cast<std::uint8_t>(head.role));
  out.varint(static_cast<std::uint64_t>(head.partition.value()));
  out.offset(head.offset);
  out.time(head.timestamp);
  out.varint(head.bytes);
}

void read_entries(std::string_view bytes, ByteReader& in) {
  ByteReader list(bytes);
  while (!list.rest().empty()) {
    list.require(list.u8() < kIndexes);
    list.require(list.bytes().size() <= kMaxIndexEntryBytes);
  }
  in.require(list.ok());
}

KeyedChange sealed(std::string_view key, ByteWriter& writer, std::string& value, Arena& arena,
                   std::string_view extensions = {}) {
  seal(key, extensions, 0, writer);
  return {arena.copy(key), arena.copy(value)};
}

HeldRow read_held(ByteReader& in) {
  HeldRow held;
  held.entries = in.bytes();
  read_entries(held.entries, in);
  held.note = in.bytes();
  held.role = in.role();
  held.partition = Partition(static_cast<std::int32_t>(in.varint(INT32_MAX)));
  held.offset = in.offset();
  held.timestamp = in.time();
  held.bytes = in.varint();
  const std::uint8_t form = in.u8();
  in.require(form <= kReference);
  held.reference = form == kReference;
  held.record_bytes = in.varint(kMaxHeldRecordBytes);
  if (held.reference) {
    in.require(held.role == Role::kRequests);
    held.hash = in.fixed64();
  } else if (in.ok()) {
    held.piece = in.bytes();
    in.require(held.piece.size() <= held.record_bytes);
    if (in.ok()) held.further_pieces = pieces_of(held.record_bytes - held.piece.size());
  }
  held.extensions = read_extensions(in);
  return held;
}

}  // namespace

std::uint64_t held_bytes(const InputRecord& record) {
  std::uint64_t bytes = 1 + varint_size(record.headers_left_out) + varint_size(record.headers.size());
  if (record.key) bytes += bytes_size(*record.key);
  for (const Header& header : record.headers)
    bytes += bytes_size(header.name) + 1 + (header.value ? bytes_size(*header.value) : 0);
  return bytes + (record.payload ? record.payload->size() : 0);
}

void append_held(const Hold& hold, const InputRecord& record, const KeyedHash& hash, Arena& arena,
                 std::vector<KeyedChange>& out) {
  std::string value;
  value.reserve(hold.note.size() + kWriterRoom +
                static_cast<std::size_t>(std::min<std::uint64_t>(hold.bytes, kHeldValueBytes)));
  ByteWriter first(value);
  write_head({hold.entries, hold.note, record.role, record.partition, record.offset, record.timestamp, hold.bytes},
             first);
  if (hold.reference) {
    RESEQ_ASSERT(record.role == Role::kRequests, "a reference to another log than requests");
    first.u8(kReference);
    const InputRecord read = as_in_log(record);
    first.varint(held_bytes(read));
    first.fixed64(hash.of_input(read.key, read.payload));
    out.push_back(sealed(hold.key, first, value, arena, hold.extensions));
    return;
  }
  std::string bytes;
  bytes.reserve(held_bytes(record) + kWriterRoom);
  ByteWriter whole(bytes);
  write_record(record, whole);
  whole.finish();
  first.u8(kBody);
  first.varint(bytes.size());
  std::string_view left = bytes;
  const std::size_t piece = first_piece_bytes(first.written(0).size() + hold.extensions.size(), left.size());
  first.bytes(left.substr(0, piece));
  left.remove_prefix(piece);
  out.push_back(sealed(hold.key, first, value, arena, hold.extensions));
  for (std::uint32_t number = 1; !left.empty(); ++number) {
    std::string next;
    ByteWriter writer(next);
    writer.u8(kRowFormat);
    const std::string_view taken = left.substr(0, kPieceBytes);
    writer.bytes(taken);
    left.remove_prefix(taken.size());
    out.push_back(sealed(piece_key(hold.key, number), writer, next, arena));
  }
}

KeyedChange held_again(std::string_view key, const HeldRow& held, std::span<const IndexEntry> entries,
                       std::string_view note, Arena& arena) {
  std::string value;
  ByteWriter first(value);
  write_head({entries, note, held.role, held.partition, held.offset, held.timestamp, held.bytes}, first);
  first.u8(held.reference ? kReference : kBody);
  first.varint(held.record_bytes);
  if (held.reference)
    first.fixed64(held.hash);
  else
    first.bytes(held.piece);
  return sealed(key, first, value, arena, held.extensions);
}

Decoded<HeldRow> decode_held(std::string_view key, std::string_view value) {
  if (!is_held_key(key)) return RowError::kInvalid;
  ByteReader in = open_frame(key, value);
  const HeldRow held = read_held(in);
  if (!in.ok()) return *in.error();
  return held;
}

HeldRow held_of(std::string_view value) {
  RESEQ_ASSERT(value.size() > 1 + kChecksumBytes, "no row");
  ByteReader in(value.substr(1, value.size() - 1 - kChecksumBytes));
  return read_held(in);
}

Decoded<std::string_view> decode_piece(std::string_view key, std::string_view value) {
  const auto parsed = parse_key(key);
  if (!parsed || parsed->type != KeyType::kPiece) return RowError::kInvalid;
  ByteReader in = open_frame(key, value);
  const std::string_view piece = in.bytes();
  in.require(!piece.empty() && piece.size() <= kPieceBytes);
  (void)read_extensions(in);
  if (!in.ok()) return *in.error();
  return piece;
}

std::optional<InputRecord> held_record(std::string_view key, const HeldRow& held, const FindRow& row, Arena& arena) {
  RESEQ_ASSERT(!held.reference, "a reference has no record");
  const auto size = static_cast<std::size_t>(held.record_bytes);
  char* place = nullptr;
  // From the last one: no memory is taken for a length that a row only says.
  for (std::uint32_t number = held.further_pieces; number > 0; --number) {
    const std::string next = piece_key(key, number);
    const auto value = row(next);
    if (!value) return std::nullopt;
    const auto piece = decode_piece(next, *value);
    const auto* bytes = std::get_if<std::string_view>(&piece);
    const std::size_t at = held.piece.size() + (number - 1) * kPieceBytes;
    if (bytes == nullptr || bytes->size() != std::min(kPieceBytes, size - at)) return std::nullopt;
    if (place == nullptr) place = arena.allocate(size);
    std::copy(bytes->begin(), bytes->end(), place + at);
  }
  if (place == nullptr) place = arena.allocate(size);
  std::copy(held.piece.begin(), held.piece.end(), place);
  InputRecord record;
  record.role = held.role;
  record.partition = held.partition;
  record.offset = held.offset;
  record.timestamp = held.timestamp;
  if (!read_record({place, size}, record, arena)) return std::nullopt;
  return record;
}

std::string_view document_source_of(const HeldRow& held) {
  if (held.reference) return {};
  ByteReader in(held.piece);
  InputRecord record;
  read_beginning(in, record);
  std::string_view source;  // of the last one, as of an input
  for (std::size_t left = in.count(); left > 0 && in.ok(); --left)
    if (const Header header = read_header(in); header.name == header::kSource) source = header.value.value_or("");
  return in.ok() ? source : std::string_view();
}

void each_index_entry(std::string_view value, const EntryVisit& visit) {
  ByteReader in(value.substr(1));
  ByteReader list(in.bytes());
  while (!list.rest().empty()) {
    const std::uint8_t index = list.u8();
    visit(index, list.bytes());
  }
}

}  // namespace reseq::codec
