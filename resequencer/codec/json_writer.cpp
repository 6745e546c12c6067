#include "codec/json_writer.h"

#include "codec/base64.h"

namespace reseq::codec {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

// How a UTF-8 sequence may go on behind its first byte: bytes that follow, and the range of the first of them.
struct Lead {
  unsigned following;
  unsigned char low, high;
};

// `following` 0 for a byte that begins no sequence of several bytes.
Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

bool escapes(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto byte = static_cast<unsigned char>(bytes[i++]);
    if (byte < 0x80) continue;
    Lead lead = lead_of(byte);
    if (lead.following == 0 || bytes.size() - i < lead.following) return false;
    for (; lead.following > 0; --lead.following, lead.low = 0x80, lead.high = 0xBF) {
      const auto next = static_cast<unsigned char>(bytes[i++]);
      if (next < lead.low || next > lead.high) return false;
    }
  }
  return true;
}

void JsonWriter::begin(std::string_view name) {
  if (out_.back() != '{') out_.push_back(',');
  out_.push_back('"');
  append(name);
  append("\":");
}

void JsonWriter::text(std::string_view name, std::string_view value) {
  begin(name);
  quoted(value);
}

void JsonWriter::quoted(std::string_view value) {
  out_.push_back('"');
  for (const char c : value) {
    if (!escapes(c)) {
      out_.push_back(c);
    } else if (c == '"' || c == '\\') {
      out_.push_back('\\');
      out_.push_back(c);
    } else {
      append("\\u00");
      out_.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
      out_.push_back(kHex[static_cast<unsigned char>(c) & 15U]);
    }
  }
  out_.push_back('"');
}

void JsonWriter::base64(std::string_view name, std::string_view bytes) {
  begin(name);
  out_.push_back('"');
  encode_base64(bytes, [this](char c) { out_.push_back(c); });
  out_.push_back('"');
}

void JsonWriter::json(std::string_view name, std::string_view value) {
  begin(name);
  append(value);
}

void JsonWriter::begin_list(std::string_view name) {
  begin(name);
  out_.push_back('[');
}

void JsonWriter::element(std::string_view value) {
  if (out_.back() != '[') out_.push_back(',');
  quoted(value);
}

void JsonWriter::end_list() {
  out_.push_back(']');
}

void JsonWriter::begin_object(std::string_view name) {
  begin(name);
  out_.push_back('{');
}

void JsonWriter::end_object() {
  out_.push_back('}');
}

std::string_view JsonWriter::finish() {
  out_.push_back('}');
  return {out_.data(), out_.size()};
}

}  // namespace reseq::codec
