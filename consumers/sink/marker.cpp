#include "consumers/sink/marker.h"

#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "codec/json_writer.h"

namespace reseq::sink {
namespace {

using nlohmann::json;

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::size_t kCharacterMax = 4;

// The character that begins the bytes; empty: none does. NUL is one that PostgreSQL does not take.
std::string_view character_of(std::string_view bytes) {
  if (bytes.front() == '\0') return {};
  for (std::size_t size = 1; size <= kCharacterMax; ++size)
    if (const std::string_view character = bytes.substr(0, size); codec::is_utf8(character)) return character;
  return {};
}

std::string clean(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::string_view character = character_of(bytes);
    const std::string_view written = character.empty() ? kReplacement : character;
    if (text.size() + written.size() > kMarkerTextMax) break;
    text += written;
    bytes.remove_prefix(character.empty() ? 1 : character.size());
  }
  return text;
}

// Empty: it is not there, or no text.
std::string text_at(const json& note, const char* name) {
  const auto found = note.find(name);
  return found != note.end() && found->is_string() ? clean(found->get_ref<const std::string&>()) : std::string();
}

}  // namespace

Marker marker_of(const Change& change) {
  RESEQ_ASSERT(change.op == ChangeOp::kFailed && change.payload, "a change that is no marker");
  Marker marker;
  std::string error;
  if (const json note = json::parse(*change.payload, nullptr, false); note.is_object()) {
    if (std::string reason = text_at(note, "reason"); !reason.empty()) marker.reason = std::move(reason);
    if (std::string failed_at = text_at(note, "failed_at"); !failed_at.empty()) marker.failed_at = std::move(failed_at);
    if (const auto found = note.find("attempts"); found != note.end() && found->is_number_unsigned())
      if (const auto number = found->get<std::uint64_t>(); number <= UINT32_MAX)
        marker.attempts = static_cast<std::uint32_t>(number);
    error = text_at(note, "error");
  }
  if (error.empty() && change.error) error = clean(*change.error);
  if (!error.empty()) marker.error = std::move(error);
  return marker;
}

std::string note_of(const Marker& marker) {
  codec::JsonWriter note;
  note.text("reason", marker.reason);
  if (marker.error) note.text("error", *marker.error);
  if (marker.attempts) note.number("attempts", *marker.attempts);
  if (marker.failed_at) note.text("failed_at", *marker.failed_at);
  return std::string(note.finish());
}

}  // namespace reseq::sink
