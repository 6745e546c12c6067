#include "hex_file.h"

#include <cctype>
#include <fstream>
#include <gtest/gtest.h>

#include "tests/support/source_path.h"

namespace reseq::golden {

std::map<std::string, std::string> read_hex_file(const std::string& name) {
  std::ifstream file(test::source_path("tests/golden/" + name + ".hex"));
  EXPECT_TRUE(file.is_open()) << name;
  std::map<std::string, std::string> sections;
  std::string* section = nullptr;
  for (std::string line; std::getline(file, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    if (line.starts_with('[')) {
      section = &sections[line.substr(1, line.find(']') - 1)];
      continue;
    }
    std::string digits;
    for (const char c : line)
      if (c != ' ') digits.push_back(c);
    EXPECT_EQ(digits.size() % 2, 0U) << name << ": " << line;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
      EXPECT_TRUE(std::isxdigit(digits[i]) != 0 && std::isxdigit(digits[i + 1]) != 0 && section != nullptr) << line;
      if (section == nullptr) return sections;
      section->push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
    }
  }
  return sections;
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    text.push_back(kDigits[static_cast<unsigned char>(c) & 15U]);
    text.push_back(' ');
  }
  return text;
}

}  // namespace reseq::golden
