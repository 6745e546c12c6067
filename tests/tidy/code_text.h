// C++ text as far as the gates have to understand it: what is code and what is not, and where functions begin and end.
// It is a scanner, not a parser: it knows comments, literals, preprocessor lines and braces, and tells functions from
// types, namespaces and initialisers by the text in front of the brace.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reseq::tidy {

// The same text with comments and the inside of literals blanked out; every line keeps its place and its length.
[[nodiscard]] std::string code_only(std::string_view text);

struct Function {
  std::string head;  // text in front of the body, in one line
  std::size_t first_line = 0;
  std::size_t last_line = 0;

  [[nodiscard]] std::size_t lines() const { return last_line - first_line + 1; }
};

// Functions with a body, in order, first line of the head to the closing brace. Lambdas belong to the function they
// stand in.
[[nodiscard]] std::vector<Function> functions_of(std::string_view text);

}  // namespace reseq::tidy
