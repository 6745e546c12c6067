// What is asserted of rows of every kind: refused, or read as a row whose encoding is these very bytes; extensions of a
// later version are kept, or refused when they must be understood.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/row_frame.h"
#include "codec/rows.h"

namespace reseq::fuzz {

inline void seal(std::string_view key, std::string_view extensions, std::string& value) {
  codec::ByteWriter writer(value);
  codec::seal(key, extensions, 0, writer);
}

inline std::string_view extensions_of(const codec::DocumentRow& row) {
  return row.row.extensions.view();
}

inline std::string_view extensions_of(const TargetTable& table) {
  return table.extensions();
}

template <typename Value>
std::string_view extensions_of(const Value& value) {
  return value.extensions;
}

// Tags rise within a row, and an input may already hold the highest of all.
inline constexpr std::uint64_t kFirstAddedTag = INT64_MAX - 3;

inline bool has_room(std::string_view extensions) {
  codec::ByteReader list(extensions);
  std::uint64_t last = 0;
  while (!list.rest().empty()) {
    last = list.varint();
    (void)list.bytes();
  }
  return last < kFirstAddedTag;
}

// What an older version must refuse and what it must keep, shown by adding an extension behind all others.
template <typename Decode>
void check_extensions(std::string_view key, const std::string& value, Decode decode) {
  const auto with = [&](std::uint64_t tag) {
    std::string extension;
    codec::ByteWriter writer(extension);
    writer.varint(tag);
    writer.bytes("?");
    writer.finish();
    std::string longer = value.substr(0, value.size() - codec::kChecksumBytes);
    seal(key, extension, longer);
    return decode(key, longer);
  };
  const auto with_optional = with(kFirstAddedTag);
  RESEQ_ASSERT(!std::holds_alternative<codec::RowError>(with_optional), "an optional extension made a row unreadable");
  const auto with_mandatory = with(kFirstAddedTag + 1);
  const auto* error = std::get_if<codec::RowError>(&with_mandatory);
  RESEQ_ASSERT(error != nullptr && *error == codec::RowError::kUnknownMandatory,
               "an extension that must be understood was ignored");
}

template <typename Value, typename Encode>
void check_row_of(std::string_view key, const std::string& value,
                  codec::Decoded<Value> (*decode)(std::string_view, std::string_view), Encode encode) {
  const codec::Decoded<Value> decoded = decode(key, value);
  if (const auto* error = std::get_if<codec::RowError>(&decoded)) {
    RESEQ_ASSERT(!codec::name_of(*error).empty(), "an error without a name");
    return;
  }
  RESEQ_ASSERT(codec::is_intact(key, value), "a row that was read although it is damaged");
  std::string again;
  encode(key, std::get<Value>(decoded), again);
  RESEQ_ASSERT(again == value, "a row with two encodings");
  if (has_room(extensions_of(std::get<Value>(decoded)))) check_extensions(key, value, decode);
}

}  // namespace reseq::fuzz
