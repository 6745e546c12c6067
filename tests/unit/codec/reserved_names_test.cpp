// What is reserved for later versions stands in the contract, whole, and nothing of today is called so.
#include "base/reserved_names.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

#include "codec/header_names.h"
#include "model/effects.h"
#include "model/reason.h"
#include "tests/support/source_path.h"

namespace reseq::codec {
namespace {

// Words in backticks between two texts of a page, sorted.
std::vector<std::string> listed(const std::string& page, const std::string& from, const std::string& to) {
  std::ostringstream text;
  text << std::ifstream(test::source_path(page)).rdbuf();
  const std::string whole = text.str();
  const std::size_t begin = whole.find(from);
  const std::size_t end = whole.find(to, begin);
  EXPECT_NE(end, std::string::npos) << page << " has no \"" << from << "\"";
  std::vector<std::string> words;
  for (std::size_t at = whole.find('`', begin + from.size()); at < end;) {
    const std::size_t close = whole.find('`', at + 1);
    words.push_back(whole.substr(at + 1, close - at - 1));
    at = whole.find('`', close + 1);
  }
  std::sort(words.begin(), words.end());
  return words;
}

template <typename Names>
std::vector<std::string> sorted(const Names& names) {
  std::vector<std::string> all(names.begin(), names.end());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(ReservedNames, OfHeadersAreAllInTheContract) {
  EXPECT_EQ(listed("schemas/wire.md", "because ignoring it would be wrong:", "and every `reseq-control-"),
            sorted(reserved::kHeaders));
}

TEST(ReservedNames, OfReasonsAndOutcomesAreAllInTheirPage) {
  EXPECT_EQ(listed("schemas/reasons.md", "will ever be called. Reasons:", "Outcomes:"), sorted(reserved::kReasons));
  EXPECT_EQ(listed("schemas/reasons.md", "Outcomes:", ".\n"), sorted(reserved::kOutcomes));
}

TEST(ReservedNames, AreNotInUse) {
  for (const std::string_view name : kReasonNames) EXPECT_FALSE(reserved::has(reserved::kReasons, name)) << name;
  for (const std::string_view name : kOutcomeNames) EXPECT_FALSE(reserved::has(reserved::kOutcomes, name)) << name;
  for (const std::string_view name : reserved::kHeaders) EXPECT_EQ(kind_of(name), HeaderKind::kReserved) << name;
}

}  // namespace
}  // namespace reseq::codec
