#include "codec/place.h"

#include "codec/header_names.h"

namespace reseq::codec {

namespace {

constexpr std::string_view kHeaderPrefix = "header:";

}  // namespace

std::optional<Place> parse_place(std::string_view text) {
  if (text == "key") return Place{};
  if (!text.starts_with(kHeaderPrefix) || text.size() == kHeaderPrefix.size()) return std::nullopt;
  return Place{std::string(text.substr(kHeaderPrefix.size()))};
}

std::optional<std::string_view> value_at(const Place& place, std::optional<std::string_view> key,
                                         std::span<const Header> headers) {
  if (place.is_key()) return key;
  const Header* const last = find_header(headers, place.header);
  return last == nullptr ? std::nullopt : last->value;
}

}  // namespace reseq::codec
