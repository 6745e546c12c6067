#include "tests/judge/history.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/assert.h"

namespace reseq::judge {

namespace {

constexpr std::size_t kSharedBytes = 4096;  // payloads from here on are kept once

// A record is packed as
//   key size + 1, key | payload: 0 null, 1 large, else size + 2 | its bytes, or where a large one lies and its size
//   | number of headers | of each: number of its name, size + 1, value
// with sizes of 0 = null, and all numbers as varints.
void append_number(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7U) out.push_back(static_cast<char>(number | 0x80U));
  out.push_back(static_cast<char>(number));
}

std::uint64_t take_number(const char*& from) {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*from++);
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
}

void append_optional(std::string& out, const std::optional<std::string_view>& value) {
  append_number(out, value ? value->size() + 1 : 0);
  if (value) out.append(*value);
}

std::string_view take_bytes(const char*& from, std::uint64_t size) {
  const std::string_view bytes(from, size);
  from += size;
  return bytes;
}

std::optional<std::string_view> take_optional(const char*& from) {
  const std::uint64_t size = take_number(from);
  if (size == 0) return std::nullopt;
  return take_bytes(from, size - 1);
}

void append_large(std::string& out, std::string_view payload) {
  append_number(out, 1);
  const char* const where = payload.data();
  out.append(reinterpret_cast<const char*>(&where), sizeof where);
  append_number(out, payload.size());
}

std::optional<std::string_view> take_payload(const char*& from) {
  const std::uint64_t size = take_number(from);
  if (size == 0) return std::nullopt;
  if (size > 1) return take_bytes(from, size - 2);
  const char* where = nullptr;
  std::memcpy(&where, from, sizeof where);
  from += sizeof where;
  return std::string_view(where, take_number(from));
}

}  // namespace

void History::add(Place place, const Record& record) {
  Log& log = logs_[place];
  log.names_ = &names_;
  RESEQ_ASSERT(log.empty() || log.entries_.back().offset < record.offset, "offsets of a log rise");
  std::string packed;
  append_optional(packed, record.key);
  if (!record.payload) {
    append_number(packed, 0);
  } else if (record.payload->size() >= kSharedBytes) {
    append_large(packed, shared(*record.payload));
  } else {
    append_number(packed, record.payload->size() + 2);
    packed.append(*record.payload);
  }
  append_number(packed, record.headers.size());
  for (const Header& header : record.headers) {
    append_number(packed, number_of_name(header.name));
    append_optional(packed, header.value);
  }
  log.entries_.push_back({record.offset, record.timestamp, arena_.copy(packed).data()});
  ++records_;
}

Record History::Log::operator[](std::size_t i) const {
  const Entry& entry = entries_[i];
  Record record;
  record.offset = entry.offset;
  record.timestamp = entry.timestamp;
  const char* from = entry.packed;
  record.key = take_optional(from);
  record.payload = take_payload(from);
  const std::uint64_t headers = take_number(from);
  for (std::uint64_t h = 0; h < headers; ++h) {
    const std::string_view name = (*names_)[take_number(from)];
    record.headers.push_back({name, take_optional(from)});
  }
  return record;
}

std::size_t History::Log::at_or_behind(Offset offset) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), offset,
                                      [](const Entry& entry, Offset wanted) { return entry.offset < wanted; });
  return static_cast<std::size_t>(found - entries_.begin());
}

const History::Log& History::log(Place place) const {
  static const Log kNone;
  const auto found = logs_.find(place);
  return found == logs_.end() ? kNone : found->second;
}

std::uint32_t History::number_of_name(std::string_view name) {
  if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.push_back(arena_.copy(name));
  numbers_.emplace(names_.back(), number);
  return number;
}

std::string_view History::shared(std::string_view payload) {
  if (const auto known = large_.find(payload); known != large_.end()) return *known;
  return *large_.insert(arena_.copy(payload)).first;
}

}  // namespace reseq::judge
