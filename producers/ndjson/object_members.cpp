#include "producers/ndjson/object_members.h"

#include <nlohmann/json.hpp>

namespace reseq::ndjson {
namespace {

// Walks valid JSON, so that it needs to look only at quotes, brackets and the characters between members.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] char here() const { return text_[at_]; }
  void step() { ++at_; }
  void skip_blanks() {
    while (at_ < text_.size() && (here() == ' ' || here() == '\t' || here() == '\n' || here() == '\r')) ++at_;
  }

  std::string_view value() {
    const std::size_t begin = at_;
    int depth = 0;
    do {
      if (here() == '"') {
        pass_string();
        continue;
      }
      if (here() == '{' || here() == '[') ++depth;
      if (here() == '}' || here() == ']') --depth;
      ++at_;
    } while (depth > 0 || !at_end_of_value());
    return text_.substr(begin, at_ - begin);
  }

 private:
  void pass_string() {
    for (++at_; here() != '"'; ++at_)
      if (here() == '\\') ++at_;
    ++at_;
  }
  [[nodiscard]] bool at_end_of_value() const {
    return std::string_view(",:}] \t\r\n").find(here()) != std::string_view::npos;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Member> members_of(std::string_view text) {
  std::vector<Member> members;
  Scanner scanner(text);
  scanner.skip_blanks();
  scanner.step();  // {
  scanner.skip_blanks();
  while (scanner.here() != '}') {
    const std::string_view name = scanner.value();
    scanner.skip_blanks();
    scanner.step();  // :
    scanner.skip_blanks();
    members.push_back({.name = nlohmann::json::parse(name).get<std::string>(), .value = scanner.value()});
    scanner.skip_blanks();
    if (scanner.here() == ',') scanner.step();
    scanner.skip_blanks();
  }
  return members;
}

}  // namespace reseq::ndjson
