#include "tests/support/suite_amount.h"

#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <string_view>

namespace reseq::test {
namespace {

std::optional<std::uint64_t> number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

}  // namespace

Amount amount_of_suite(int cases, std::uint64_t seed) {
  Amount amount{cases, seed};
  if (const auto said = number_of("RESEQ_PROPERTY_CASES")) amount.cases = static_cast<int>(*said);
  if (const auto said = number_of("RESEQ_PROPERTY_SEED")) amount.seed = *said;
  const char* const text = std::getenv("RESEQ_PROPERTY_SEED");
  if (text != nullptr && std::string_view(text) == "random") amount.seed = std::random_device{}();
  std::cout << amount.cases << " cases, RESEQ_PROPERTY_SEED=" << amount.seed << std::endl;
  return amount;
}

}  // namespace reseq::test
