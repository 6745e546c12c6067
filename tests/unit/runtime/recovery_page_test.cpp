// docs/recovery.md has a row for every word that a partition which does not go on is logged with, in the section that
// the word belongs to; and no row for a word that is not logged any more.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <string>

#include "runtime/takeover/recovery.h"
#include "runtime/takeover/standstill.h"
#include "tests/support/source_path.h"

namespace reseq::runtime {
namespace {

using Words = std::set<std::string>;

// First words of the rows of the tables below `heading`, up to the next heading: | `word` | ...
Words rows_below(const std::string& heading) {
  std::ifstream page(test::source_path("docs/recovery.md"));
  Words words;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) inside = line == "## " + heading;
    if (!inside || !line.starts_with("| `")) continue;
    words.insert(line.substr(3, line.find('`', 3) - 3));
  }
  return words;
}

template <typename Enum>
Words words_of(Enum first = static_cast<Enum>(0)) {
  Words words;
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(Enum::kCount); ++i)
    words.insert(std::string(name_of(static_cast<Enum>(i))));
  return words;
}

TEST(RecoveryPage, HasARowForEveryReasonToPark) {
  EXPECT_EQ(rows_below("Parked: it waits for you"), words_of<Parked>());
}

TEST(RecoveryPage, HasARowForEveryWait) {
  EXPECT_EQ(rows_below("Waiting: it goes on by itself"), words_of<Waiting>());
}

TEST(RecoveryPage, HasARowForEveryReasonToRebuild) {
  EXPECT_EQ(rows_below("Rebuilt: the copy was thrown away"), words_of(Rebuild::kNoCopy));
}

TEST(RecoveryPage, WordsAreDifferent) {
  EXPECT_EQ(words_of<Parked>().size(), static_cast<std::size_t>(Parked::kCount));
  EXPECT_EQ(words_of<Waiting>().size(), static_cast<std::size_t>(Waiting::kCount));
  for (std::size_t i = 0; i < static_cast<std::size_t>(Parked::kCount); ++i)
    EXPECT_THAT(std::string(first_step(static_cast<Parked>(i))), testing::Not(testing::IsEmpty())) << i;
}

}  // namespace
}  // namespace reseq::runtime
