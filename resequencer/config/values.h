// Puts one value, from the file or from the environment, where its key says, or tells what is wrong with it.
// Thread rule: pure functions.
#pragma once

#include <sstream>
#include <string>
#include <toml++/toml.h>
#include <utility>

#include "base/result.h"
#include "config/key.h"

namespace reseq::config {

[[nodiscard]] inline Error invalid(std::string message) {
  return {ErrorClass::kInvalid, 0, std::move(message)};
}

[[nodiscard]] inline bool is_choice(const std::string& allowed, const std::string& value) {
  std::istringstream choices(allowed);
  for (std::string choice; std::getline(choices, choice, '|');)
    if (choice == value) return true;
  return false;
}

template <typename Owner>
Result<> set_text(Owner& owner, const Key<Owner>& key, std::string value) {
  if (*key.allowed != '\0' && !is_choice(key.allowed, value))
    return invalid(std::string(key.name) + " = \"" + value + "\": must be one of " + key.allowed);
  owner.*(key.text) = std::move(value);
  return Done{};
}

template <typename Owner>
Result<> set_number(Owner& owner, const Key<Owner>& key, std::int64_t value) {
  if (value < key.minimum)
    return invalid(std::string(key.name) + " = " + std::to_string(value) + ": must be at least " +
                   std::to_string(key.minimum));
  owner.*(key.number) = value;
  return Done{};
}

template <typename Owner>
[[nodiscard]] bool set_word(Owner& owner, const Key<Owner>& key, const std::string& value) {
  if (*key.word == '\0' || value != key.word) return false;
  owner.*(key.number) = kWord;
  return true;
}

template <typename Owner>
Result<> set_list(Owner& owner, const Key<Owner>& key, const toml::node& node) {
  const Error wrong = invalid(std::string(key.name) + ": must be a list of texts, as [\"a\", \"b\"]");
  const toml::array* array = node.as_array();
  if (array == nullptr) return wrong;
  for (const toml::node& one : *array) {
    const auto value = one.value_exact<std::string>();
    if (!value) return wrong;
    (owner.*(key.list)).push_back(*value);
  }
  return Done{};
}

template <typename Owner>
Result<> set_from_node(Owner& owner, const Key<Owner>& key, const toml::node& node) {
  if (key.list != nullptr) return set_list(owner, key, node);
  if (key.text != nullptr) {
    if (const auto value = node.value_exact<std::string>()) return set_text(owner, key, *value);
    return invalid(std::string(key.name) + ": must be a text in quotes");
  }
  if (key.number != nullptr) {
    if (const auto value = node.value_exact<std::int64_t>()) return set_number(owner, key, *value);
    const auto word = node.value_exact<std::string>();
    if (word && set_word(owner, key, *word)) return Done{};
    const std::string or_word = *key.word == '\0' ? "" : " or \"" + std::string(key.word) + "\"";
    return invalid(std::string(key.name) + ": must be a whole number" + or_word);
  }
  const auto value = node.value_exact<bool>();
  if (!value) return invalid(std::string(key.name) + ": must be true or false");
  owner.*(key.flag) = *value;
  return Done{};
}

}  // namespace reseq::config
