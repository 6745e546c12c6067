#include "tests/bad_input/record.h"

#include <algorithm>
#include <ostream>

#include "codec/hash.h"

namespace reseq::test {

namespace {

constexpr std::size_t kShownBytes = 60;

Bytes owned(const std::optional<std::string_view>& bytes) {
  return bytes ? Bytes(std::string(*bytes)) : std::nullopt;
}

std::string shown(const Bytes& bytes) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  if (!bytes) return "null";
  std::string text;
  for (const char c : bytes->substr(0, kShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      text += c;
    else
      text.append("\\x").append(1, kHex[byte >> 4U]).append(1, kHex[byte & 15U]);
  }
  if (bytes->size() > kShownBytes) text += "... (" + std::to_string(bytes->size()) + " bytes)";
  return "'" + text + "'";
}

}  // namespace

Bytes Record::header(std::string_view name) const {
  const auto last = std::find_if(headers.rbegin(), headers.rend(), [&](const auto& one) { return one.name == name; });
  return last == headers.rend() ? std::nullopt : last->value;
}

std::ostream& operator<<(std::ostream& out, const Record& record) {
  out << "key " << shown(record.key) << " payload " << shown(record.payload) << " headers";
  constexpr std::size_t kShownHeaders = 40;
  for (std::size_t i = 0; i < record.headers.size() && i < kShownHeaders; ++i)
    out << "\n  " << shown(record.headers[i].name) << " = " << shown(record.headers[i].value);
  if (record.headers.size() > kShownHeaders) out << "\n  ... (" << record.headers.size() << " headers)";
  return out;
}

std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << place.topic << "/" << place.partition << "@" << place.offset;
}

ReadRecord read_record(const kafka::PlainRecord& record) {
  ReadRecord read;
  read.place = {std::string(record.topic), record.partition.value(), record.offset.value()};
  read.timestamp_ms = record.timestamp.value();
  read.record.key = owned(record.key);
  read.record.payload = owned(record.payload);
  for (const Header& header : record.headers)
    read.record.headers.push_back({std::string(header.name), owned(header.value)});
  return read;
}

std::string id_in(int partition, const std::string& stem, int partitions, Partitioner partitioner) {
  std::string id = stem;
  for (int i = 1; codec::partition_of(id, partitioner, partitions).value() != partition; ++i)
    id = stem + std::to_string(i);
  return id;
}

}  // namespace reseq::test
