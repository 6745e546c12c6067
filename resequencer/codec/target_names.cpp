#include "codec/target_names.h"

#include <algorithm>

namespace reseq::codec {

bool is_target_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxTargetNameBytes) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

std::variant<TargetNumber, Reason> parse_target(std::string_view name, const TargetTable& table) {
  if (const auto target = table.find(name)) return *target;
  return is_target_name(name) ? Reason::kUnknownTarget : Reason::kMalformedHeader;
}

std::variant<TargetSet, Reason> parse_targets(std::string_view list, const TargetTable& table) {
  TargetSet targets;
  bool unknown = false;
  for (;;) {
    const std::size_t comma = list.find(',');
    const auto target = parse_target(list.substr(0, comma), table);
    if (const auto* number = std::get_if<TargetNumber>(&target))
      targets |= TargetSet::of(*number);
    else if (std::get<Reason>(target) == Reason::kMalformedHeader)
      return Reason::kMalformedHeader;
    else
      unknown = true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  if (unknown) return Reason::kUnknownTarget;
  return targets;
}

}  // namespace reseq::codec
