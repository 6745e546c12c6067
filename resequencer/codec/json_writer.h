// JsonWriter: one compact JSON object, member by member. Names are ours and are not escaped; texts are.
// Thread rule: one thread.
#pragma once

#include <boost/container/small_vector.hpp>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace reseq::codec {

// Well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view bytes);

class JsonWriter {
 public:
  JsonWriter() { out_.push_back('{'); }

  // REQUIRES: is_utf8(value)
  void text(std::string_view name, std::string_view value);
  void base64(std::string_view name, std::string_view bytes);
  // REQUIRES: `value` is JSON
  void json(std::string_view name, std::string_view value);

  template <typename Number>
  void number(std::string_view name, Number value) {
    begin(name);
    digits(value);
  }
  // For numbers that a double cannot hold.
  void number_as_text(std::string_view name, std::uint64_t value) {
    begin(name);
    out_.push_back('"');
    digits(value);
    out_.push_back('"');
  }

  void begin_list(std::string_view name);
  void element(std::string_view value);  // REQUIRES: is_utf8(value)
  void end_list();
  void begin_object(std::string_view name);
  void end_object();

  // The whole object, valid until the writer is destroyed. Nothing may be written after it.
  [[nodiscard]] std::string_view finish();

 private:
  void begin(std::string_view name);
  void quoted(std::string_view value);
  void append(std::string_view text) { out_.insert(out_.end(), text.begin(), text.end()); }
  template <typename Number>
  void digits(Number value) {
    char text[24];
    const auto result = std::to_chars(text, text + sizeof text, value);
    append({text, static_cast<std::size_t>(result.ptr - text)});
  }

  boost::container::small_vector<char, 512> out_;
};

}  // namespace reseq::codec
