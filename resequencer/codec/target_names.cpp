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

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    names.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

std::string_view list_of(TargetSet targets, const TargetTable& table, Arena& arena) {
  RESEQ_ASSERT(!targets.empty(), "a list of no target");
  std::size_t size = 0;
  for (const TargetNumber target : targets) size += table.name(target).size() + 1;
  char* const begin = arena.allocate(size);
  char* place = begin;
  for (const TargetNumber target : targets) {
    const std::string& name = table.name(target);
    place += name.copy(place, name.size());
    *place++ = ',';
  }
  return {begin, size - 1};
}

}  // namespace reseq::codec
