// Key: one key of a table in the configuration file: where its value goes, what it may be and what it means. Reading,
// printing, overrides from the environment and the reference in docs/configuration.md all come from these rows.
// Thread rule: constants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reseq::config {

// What a number is whose word was said.
inline constexpr std::int64_t kWord = -1;

// `Owner` is the struct that the table is read into. Exactly one of the places is set.
template <typename Owner>
struct Key {
  const char* name;
  const char* meaning;
  const char* allowed = "";  // of a text: choices separated by '|', empty = any
  std::int64_t minimum = 0;  // of a number
  const char* word = "";     // that a number may be instead
  std::string Owner::*text = nullptr;
  std::int64_t Owner::*number = nullptr;
  bool Owner::*flag = nullptr;
  std::vector<std::string> Owner::*list = nullptr;
  const char* otherwise = "";  // what the default is, when it is made from other keys
};

}  // namespace reseq::config
