// What an id may do to a path: nothing.
#include "consumers/files/file_name.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>

namespace reseq::files {
namespace {

using ::testing::MatchesRegex;

// Without the two folders.
std::string name(std::string_view id, std::uint64_t attempt = 1) {
  return file_name(id, attempt).substr(6);
}

// The id of a plain name, by the grammar in file_name.h alone.
std::string decoded(std::string_view text) {
  std::string id;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      id += text[at];
      continue;
    }
    id += static_cast<char>(std::stoi(std::string(text.substr(at + 1, 2)), nullptr, 16));
    at += 2;
  }
  return id;
}

TEST(FileName, KeepsWhatIsHarmlessAndSpellsOutTheRest) {
  EXPECT_EQ(name("order-4711_b.txt"), "order-4711_b.txt");
  EXPECT_EQ(name("a/b c"), "a%2fb%20c");
  EXPECT_EQ(name("../../etc/passwd"), "%2e%2e%2f.%2e%2fetc%2fpasswd");
  EXPECT_EQ(name("/"), "%2f");
  EXPECT_EQ(name(std::string("a\0b\n\xff", 5)), "a%00b%0a%ff");
  EXPECT_EQ(name("100%"), "100%25");
  EXPECT_EQ(name("a~b"), "a%7eb");
}

TEST(FileName, IsNeverADirectoryOfItsOwnNorHiddenNorEndsWithADot) {
  EXPECT_EQ(name("."), "%2e");
  EXPECT_EQ(name(".."), "%2e%2e");
  EXPECT_EQ(name("..."), "%2e%2e%2e");
  EXPECT_EQ(name(".hidden"), "%2ehidden");
  EXPECT_EQ(name("end."), "end%2e");
  EXPECT_EQ(name("a..b"), "a.%2eb");
}

TEST(FileName, HasNoUpperCaseSoThatIdsStayApartWhereCaseIsFolded) {
  EXPECT_EQ(name("Readme.MD"), "%52eadme.%4d%44");
  EXPECT_EQ(name("readme.md"), "readme.md");
}

TEST(FileName, OfALongIdIsItsBeginningAndItsHash) {
  const std::string common(300, 'a');
  EXPECT_THAT(name(common + "x"), MatchesRegex("a{100}~[0-9a-f]{32}"));
  EXPECT_NE(name(common + "x"), name(common + "y"));
  EXPECT_EQ(name(common + "x", 2), name(common + "x") + "~2");
  EXPECT_LE(name(std::string(4096, '/')).size(), kPlainNameMax);
  // Escapes are not cut in the middle.
  EXPECT_THAT(name(std::string(4096, '/')), MatchesRegex("(%2f){33}~[0-9a-f]{32}"));
}

TEST(FileName, ChangesFormExactlyBehindTheLimit) {
  EXPECT_EQ(name(std::string(kPlainNameMax, 'a')), std::string(kPlainNameMax, 'a'));
  EXPECT_TRUE(has_plain_name(std::string(kPlainNameMax, 'a')));
  EXPECT_FALSE(has_plain_name(std::string(kPlainNameMax + 1, 'a')));
  EXPECT_FALSE(has_plain_name(std::string(kPlainNameMax / 3 + 1, '/')));
}

TEST(FileName, ThePathOfAnIdIsTheSameForever) {
  EXPECT_EQ(file_name("a", 1), "c2/9b/a");
  EXPECT_EQ(file_name(std::string(4096, 'a'), 1),
            "61/9f/" + std::string(100, 'a') + "~619f3ef6d730663a195bc06a644ca82a");
}

TEST(FileName, SpreadsDocumentsOverManyFolders) {
  std::set<std::string> folders;
  for (int i = 0; i < 2'000; ++i) folders.insert(file_name("document-" + std::to_string(i), 1).substr(0, 5));
  EXPECT_GT(folders.size(), 1'900U);
}

// Ids of few letters, so that nearly equal ones are frequent.
TEST(FileName, AnyIdsStayApartAndCanBeReadBackFromTheirNames) {
  std::mt19937_64 random(11);
  const std::string letters("aA.%~/\0-", 8);
  std::set<std::string> ids, names;
  for (int i = 0; i < 20'000; ++i) {
    std::string id;
    const std::size_t length = 1 + random() % 6;
    while (id.size() < length) id += letters[random() % letters.size()];
    ids.insert(id);
    const std::string text = name(id);
    names.insert(text);
    EXPECT_THAT(text, MatchesRegex("([a-z0-9_.-]|%[0-9a-f]{2})+"));
    EXPECT_EQ(decoded(text), id);
  }
  EXPECT_EQ(ids.size(), names.size());
  EXPECT_GT(ids.size(), 5'000U);
}

}  // namespace
}  // namespace reseq::files
