#include "tests/judge/record.h"

#include <charconv>
#include <xxhash.h>

#include "base/log.h"

namespace reseq::judge {

namespace {

constexpr std::size_t kShownBytes = 60;

void append_bytes(std::string& out, std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out.append(bytes);
}

void append_field(std::string& out, const std::optional<std::string_view>& value) {
  out.push_back(value ? '+' : '-');
  if (value) append_bytes(out, *value);
}

std::string shown(const std::optional<std::string_view>& value) {
  if (!value) return "null";
  const std::string text = "\"" + log::outside(value->substr(0, kShownBytes)) + "\"";
  return value->size() > kShownBytes ? text + "... (" + std::to_string(value->size()) + " bytes)" : text;
}

}  // namespace

std::optional<std::string_view> header_of(const Record& record, std::string_view name) {
  for (auto one = record.headers.rbegin(); one != record.headers.rend(); ++one)
    if (one->name == name) return one->value;
  return std::nullopt;
}

std::uint64_t number_of(const Record& record, std::string_view name) {
  std::uint64_t number = 0;
  if (const auto text = header_of(record, name)) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

Digest fingerprint(const Record& record) {
  std::string all = std::to_string(record.timestamp.value());
  append_field(all, record.key);
  append_field(all, record.payload);
  for (const Header& header : record.headers) {
    append_bytes(all, header.name);
    append_field(all, header.value);
  }
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return {hash.low64, hash.high64};
}

std::string describe(const Record& record) {
  std::string text = "key=" + shown(record.key) + " at=" + std::to_string(record.timestamp.value());
  for (const Header& header : record.headers) text += " " + log::outside(header.name) + "=" + shown(header.value);
  return text + " payload=" + shown(record.payload);
}

}  // namespace reseq::judge
