#include "engine/documents/routes.h"

namespace reseq::engine {
namespace {

// One element of a pattern that matches one byte: how long it is, and whether this byte matches.
struct Element {
  std::size_t length = 1;
  bool matches = false;
};

unsigned char byte_of(char c) {
  return static_cast<unsigned char>(c);
}

// REQUIRES: pattern[0] == '['. Length 0 = no ']' ends it.
Element match_set(std::string_view pattern, char c) {
  std::size_t i = 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    const unsigned char low = byte_of(pattern[i]);
    unsigned char high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      i += 2;
      if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
      high = byte_of(pattern[i]);
    }
    found = found || (low <= byte_of(c) && byte_of(c) <= high);
    ++i;
  }
  if (i >= pattern.size()) return {0, false};
  return {i + 1, found != negated};
}

// REQUIRES: pattern is not empty and does not start with '*'.
Element match_one(std::string_view pattern, char c) {
  if (pattern[0] == '?') return {1, true};
  if (pattern[0] == '\\' && pattern.size() > 1) return {2, pattern[1] == c};
  if (pattern[0] == '[') {
    const Element set = match_set(pattern, c);
    if (set.length != 0) return set;
  }
  return {1, pattern[0] == c};
}

bool header_matches(const Route& route, std::span<const Header> headers) {
  for (auto header = headers.rbegin(); header != headers.rend(); ++header)
    if (header->name == route.header) return header->value.has_value() && *header->value == route.header_value;
  return false;
}

bool matches(const Route& route, const Registration& what) {
  if (!what.id.starts_with(route.id_prefix)) return false;
  if (!route.id_glob.empty() && !glob_matches(route.id_glob, what.id)) return false;
  return route.header.empty() || header_matches(route, what.headers);
}

}  // namespace

TargetSet routed(const Registration& what, const Context& context) {
  for (const Route& route : context.routes)
    if (matches(route, what)) return route.targets;
  return context.default_targets;
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t behind_star =
      kNone;  // the last star takes one byte more whenever the rest fails; earlier ones never need to
  std::size_t star_end = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      behind_star = ++p;
      star_end = t;
      continue;
    }
    const Element element = p < pattern.size() ? match_one(pattern.substr(p), text[t]) : Element{};
    if (element.matches) {
      p += element.length;
      ++t;
    } else if (behind_star != kNone) {
      p = behind_star;
      t = ++star_end;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace reseq::engine
