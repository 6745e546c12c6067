#include "consumers/opensearch/bulk_body.h"

#include <charconv>

#include "base/assert.h"
#include "codec/base64.h"
#include "codec/json_writer.h"
#include "consumers/opensearch/document_id.h"

namespace reseq::opensearch {

void BulkBody::clear() {
  if (text_.capacity() > kKeptBytesMax) text_ = std::string();
  text_.clear();
  begins_.clear();
}

std::string_view BulkBody::part(std::size_t begin, std::size_t end) const {
  RESEQ_ASSERT(begin <= end && end <= begins_.size(), "items that were not written");
  if (begin == end) return {};
  const std::size_t to = end < begins_.size() ? begins_[end] : text_.size();
  return std::string_view(text_).substr(begins_[begin], to - begins_[begin]);
}

std::optional<std::string_view> BulkBody::add_document(std::string_view id, Version version, std::string_view payload) {
  if (const auto why = reader_.refusal(payload)) return why;
  if (is_plain_id(id)) {
    add_action("index", id, version);
    append_on_one_line(payload, text_);
  } else {
    add_action("index", substitute_id(id), version);
    text_ += R"({"reseq_id":")";
    text_ += encoded(id);
    text_ += '"';
    const std::size_t inside = payload.find('{') + 1;
    if (payload.find_first_not_of(" \t\r\n", inside) != payload.rfind('}')) text_ += ',';
    append_on_one_line(payload.substr(inside), text_);
  }
  text_ += '\n';
  return std::nullopt;
}

void BulkBody::add_text(std::string_view id, Version version, std::string_view payload) {
  begin_document(id, version);
  if (codec::is_utf8(payload)) {
    text_ += R"("text":)";
    append_quoted(payload);
  } else {
    text_ += R"("base64":")";
    codec::encode_base64(payload, [this](char digit) { text_ += digit; });
    text_ += '"';
  }
  text_ += "}\n";
}

// Up to where its first member goes.
void BulkBody::begin_document(std::string_view id, Version version) {
  const bool plain = is_plain_id(id);
  add_action("index", plain ? std::string(id) : substitute_id(id), version);
  text_ += '{';
  if (!plain) text_ += R"("reseq_id":")" + encoded(id) + R"(",)";
}

void BulkBody::add_tombstone(std::string_view id, Version version, UnixMs deleted_at) {
  begin_document(id, version);
  text_ += R"("reseq_deleted":true,"reseq_deleted_at":)";
  append_number(deleted_at.value());
  text_ += "}\n";
}

void BulkBody::add_marker(std::string_view id, Version version, const sink::Marker& marker) {
  begin_document(id, version);
  text_ += R"("reseq_deleted":true,"reseq_failed":)" + sink::note_of(marker) + "}\n";
}

void BulkBody::add_delete(std::string_view stored_id, Version version) {
  add_action("delete", stored_id, version);
}

void BulkBody::add_hard_delete(std::string_view id, Version version) {
  add_action("delete", is_plain_id(id) ? std::string(id) : substitute_id(id), version);
}

void BulkBody::add_action(std::string_view action, std::string_view stored_id, Version version) {
  begins_.push_back(text_.size());
  text_ += R"({")";
  text_ += action;
  text_ += R"(":{"_id":)";
  append_quoted(stored_id);
  if (version != Version()) {
    text_ += R"(,"version":)";
    append_number(static_cast<std::int64_t>(version.value()));
    text_ += R"(,"version_type":"external_gte")";
  }
  text_ += "}}";
  text_ += '\n';
}

void BulkBody::append_quoted(std::string_view utf8) {
  text_ += '"';
  for (const char character : utf8) {
    const auto number = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      text_ += {'\\', character};
    } else if (number < 0x20) {
      text_ += {'\\', 'u', '0', '0', kHexDigits[number >> 4U], kHexDigits[number & 15U]};
    } else {
      text_ += character;
    }
  }
  text_ += '"';
}

void BulkBody::append_number(std::int64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text_.append(digits, end);
}

}  // namespace reseq::opensearch
