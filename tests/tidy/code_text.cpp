#include "code_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "source_tree.h"

namespace reseq::tidy {
namespace {

bool is_space(char letter) {
  return std::isspace(static_cast<unsigned char>(letter)) != 0;
}

// Walks over a text, keeping or blanking.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text) { out_.reserve(text.size()); }

  std::string run() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        blank_to(text_.find('\n', at_));
      } else if (starts("/*")) {
        blank_past(text_.find("*/", at_ + 2), 2);
      } else if (starts("R\"") && !after_word()) {
        raw_literal();
      } else if (text_[at_] == '"') {
        literal('"');
      } else if (text_[at_] == '\'' && !after_word()) {  // 1'000 is a number
        literal('\'');
      } else {
        out_ += text_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }
  [[nodiscard]] bool after_word() const { return at_ > 0 && is_word_letter(text_[at_ - 1]) && !after_prefix(); }
  // u8'x', L"x": a literal although a letter stands in front.
  [[nodiscard]] bool after_prefix() const {
    std::size_t begin = at_;
    while (begin > 0 && is_word_letter(text_[begin - 1])) --begin;
    const std::string_view word = text_.substr(begin, at_ - begin);
    return word == "u8" || word == "u" || word == "U" || word == "L";
  }

  void blank_to(std::size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_) out_ += text_[at_] == '\n' ? '\n' : ' ';
  }
  void blank_past(std::size_t end, std::size_t length) {
    blank_to(end == std::string_view::npos ? text_.size() : end + length);
  }

  void literal(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2U : 1U;
    out_ += text_[at_++];
    blank_to(end);
    if (at_ < text_.size() && text_[at_] == quote) out_ += text_[at_++];
  }

  void raw_literal() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return blank_to(text_.size());
    const std::string close = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    blank_past(text_.find(close, open), close.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

// Preprocessor lines, with their continuations, are no part of any function.
void blank_preprocessor(std::string& code) {
  bool continued = false;
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    const std::size_t first = code.find_first_not_of(" \t", begin);
    if (continued || (first < end && code[first] == '#')) {
      continued = end > begin && code[end - 1] == '\\';
      std::fill(code.begin() + static_cast<std::ptrdiff_t>(begin), code.begin() + static_cast<std::ptrdiff_t>(end),
                ' ');
    }
    begin = end + 1;
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Drops `template <...>` in front of a head.
std::string_view without_template(std::string_view head) {
  while (head.starts_with("template")) {
    int depth = 0;
    std::size_t at = 0;
    for (; at < head.size(); ++at) {
      if (head[at] == '<') ++depth;
      if (head[at] == '>' && --depth == 0) break;
    }
    head = trimmed(head.substr(std::min(at + 1, head.size())));
  }
  return head;
}

enum class Brace { kFunction, kScope, kInitialiser };

// `) : member` with a single colon: a constructor whose members are being initialised.
bool in_member_initialisers(std::string_view head) {
  for (std::size_t at = head.find(')'); at != std::string_view::npos; at = head.find(')', at + 1)) {
    std::string_view rest = trimmed(head.substr(at + 1));
    if (rest.starts_with("noexcept")) rest = trimmed(rest.substr(8));
    if (rest.starts_with(":") && !rest.starts_with("::")) return true;
  }
  return false;
}

Brace classify(std::string_view whole_head) {
  const std::string_view head = without_template(trimmed(whole_head));
  static constexpr std::array<std::string_view, 6> kScopes = {"namespace", "class", "struct",
                                                              "union",     "enum",  "inline namespace"};
  for (const std::string_view scope : kScopes) {
    if (head.starts_with(scope) && (head.size() == scope.size() || !is_word_letter(head[scope.size()]))) {
      return Brace::kScope;
    }
  }
  if (head.empty() || head.find('(') == std::string_view::npos) {
    return head.empty() || head.starts_with("extern") ? Brace::kScope : Brace::kInitialiser;
  }
  const char last = head.back();
  if (last == '=' || last == ',') return Brace::kInitialiser;
  if (in_member_initialisers(head) && (is_word_letter(last) || last == '>')) return Brace::kInitialiser;
  return Brace::kFunction;
}

class FunctionScanner {
 public:
  explicit FunctionScanner(std::string code) : code_(std::move(code)) {}

  std::vector<Function> run() {
    for (; at_ < code_.size(); ++at_) {
      const char letter = code_[at_];
      if (letter == '\n') ++line_;
      if (letter == '{') {
        open();
      } else if (letter == ';' && parentheses_ == 0) {
        start_head();
      } else if (letter == '}') {
        start_head();
      } else {
        if (letter == '(') ++parentheses_;
        if (letter == ')' && parentheses_ > 0) --parentheses_;
        add_to_head(letter);
      }
    }
    return std::move(found_);
  }

 private:
  void start_head() {
    head_.clear();
    parentheses_ = 0;
  }

  void add_to_head(char letter) {
    if (head_.empty()) {
      if (is_space(letter)) return;
      head_line_ = line_;
    }
    head_ += is_space(letter) ? ' ' : letter;
    for (const std::string_view access : {"public:", "private:", "protected:"}) {
      if (head_ == access) head_.clear();
    }
  }

  void open() {
    const Brace brace = parentheses_ > 0 ? Brace::kInitialiser : classify(head_);
    if (brace == Brace::kScope) return start_head();
    skip_block();
    if (brace == Brace::kInitialiser) {
      head_ += "{}";
      return;
    }
    found_.push_back({std::string(trimmed(head_)), head_line_, line_});
    start_head();
  }

  // Leaves `at_` on the closing brace.
  void skip_block() {
    for (int depth = 0; at_ < code_.size(); ++at_) {
      if (code_[at_] == '\n') ++line_;
      if (code_[at_] == '{') ++depth;
      if (code_[at_] == '}' && --depth == 0) return;
    }
  }

  std::string code_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  int parentheses_ = 0;
  std::string head_;
  std::size_t head_line_ = 1;
  std::vector<Function> found_;
};

}  // namespace

std::string code_only(std::string_view text) {
  return Blanker(text).run();
}

std::vector<Function> functions_of(std::string_view text) {
  std::string code = code_only(text);
  blank_preprocessor(code);
  return FunctionScanner(std::move(code)).run();
}

}  // namespace reseq::tidy
