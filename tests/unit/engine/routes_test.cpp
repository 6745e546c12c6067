// Routes: which targets a request has that names none.
#include "engine/documents/routes.h"

#include <gtest/gtest.h>
#include <string>

#include "map_state.h"

namespace reseq::engine {
namespace {

using std::string_view_literals::operator""sv;

Route route(TargetNumber t) {
  Route route;
  route.targets = TargetSet::of(t);
  return route;
}

TEST(Glob, StarTakesAnyBytesAlsoNone) {
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*c", "ac"));
  EXPECT_TRUE(glob_matches("a*c", "a/b/c"));
  EXPECT_TRUE(glob_matches("*.md", "docs/a.md"));
  EXPECT_TRUE(glob_matches("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(glob_matches("a*c", "acb"));
  EXPECT_FALSE(glob_matches("*a*b*", "xxbxxaxx"));
}

TEST(Glob, QuestionMarkTakesOneByte) {
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_FALSE(glob_matches("a?c", "ac"));
  EXPECT_FALSE(glob_matches("?", "\xC3\xA4"));
}

TEST(Glob, SetTakesOneOfItsBytes) {
  EXPECT_TRUE(glob_matches("[a-cx]1", "b1"));
  EXPECT_TRUE(glob_matches("[a-cx]1", "x1"));
  EXPECT_FALSE(glob_matches("[a-cx]1", "d1"));
  EXPECT_TRUE(glob_matches("[!a-c]", "d"));
  EXPECT_FALSE(glob_matches("[^a-c]", "b"));
  EXPECT_TRUE(glob_matches("[]]", "]"));
  EXPECT_TRUE(glob_matches("[a-]", "-"));
  EXPECT_TRUE(glob_matches("[\\]]x", "]x"));
  EXPECT_TRUE(glob_matches("[\x80-\xFF]", "\xC3"));
}

TEST(Glob, AnOpenBracketWithoutItsEndIsItself) {
  EXPECT_TRUE(glob_matches("[ab", "[ab"));
  EXPECT_FALSE(glob_matches("[ab", "a"));
}

TEST(Glob, BackslashTakesTheNextByteAsItIs) {
  EXPECT_TRUE(glob_matches("a\\*", "a*"));
  EXPECT_FALSE(glob_matches("a\\*", "ab"));
  EXPECT_TRUE(glob_matches("a\\", "a\\"));
}

TEST(Glob, TakesNulLikeAnyByte) {
  EXPECT_TRUE(glob_matches("a*b", "a\0b"sv));
  EXPECT_TRUE(glob_matches("a?b", "a\0b"sv));
  EXPECT_FALSE(glob_matches("a", "a\0b"sv));
  EXPECT_TRUE(glob_matches("a\0b"sv, "a\0b"sv));
}

TEST(Glob, OfManyStarsOnALongIdIsBounded) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(kMaxIdBytes, 'a')));
}

TEST(Routes, TheFirstThatMatchesWins) {
  Context context = two_targets();
  Route first = route(kSearch);
  first.id_prefix = "docs/";
  context.routes = {first, route(kCatalogue)};
  EXPECT_EQ(routed(request("docs/a", 1).what, context), targets({kSearch}));
  EXPECT_EQ(routed(request("doc", 1).what, context), targets({kCatalogue}));
}

TEST(Routes, WithoutAMatchTheDefaultTargetsAreTaken) {
  Context context = two_targets();
  Route only = route(kSearch);
  only.id_glob = "*.md";
  context.routes = {only};
  context.default_targets = targets({kLake});
  EXPECT_EQ(routed(request("a.txt", 1).what, context), targets({kLake}));
  EXPECT_EQ(routed(request("a.md", 1).what, context), targets({kSearch}));
}

TEST(Routes, PrefixIsComparedByteByByte) {
  Context context = two_targets();
  Route only = route(kSearch);
  only.id_prefix = std::string("a\0b", 3);
  context.routes = {only};
  EXPECT_EQ(routed(request("a\0bc"sv, 1).what, context), targets({kSearch}));
  EXPECT_EQ(routed(request("a\0c"sv, 1).what, context), context.default_targets);
}

TEST(Routes, AHeaderConditionLooksAtTheLastOfThatName) {
  Context context = two_targets();
  Route only = route(kSearch);
  only.header = "kind";
  only.header_value = "page";
  context.routes = {only};
  const auto targets_with = [&](std::vector<Header> headers) {
    Registration what = request("d", 1).what;
    what.headers = headers;
    return routed(what, context);
  };
  EXPECT_EQ(targets_with({{"kind", "page"}}), targets({kSearch}));
  EXPECT_EQ(targets_with({{"kind", "x"}, {"kind", "page"}, {"other", "x"}}), targets({kSearch}));
  EXPECT_EQ(targets_with({{"kind", "page"}, {"kind", "x"}}), context.default_targets);
  EXPECT_EQ(targets_with({{"kind", std::nullopt}}), context.default_targets);
  EXPECT_EQ(targets_with({}), context.default_targets);
}

TEST(Routes, ANullHeaderIsNotAnEmptyOne) {
  Context context = two_targets();
  Route only = route(kSearch);
  only.header = "kind";
  context.routes = {only};
  Registration what = request("d", 1).what;
  const Header null{"kind", std::nullopt};
  const Header empty{"kind", ""};
  what.headers = {&null, 1};
  EXPECT_EQ(routed(what, context), context.default_targets);
  what.headers = {&empty, 1};
  EXPECT_EQ(routed(what, context), targets({kSearch}));
}

TEST(Routes, AllConditionsOfARouteHaveToHold) {
  Context context = two_targets();
  Route only = route(kSearch);
  only.id_prefix = "docs/";
  only.id_glob = "*.md";
  context.routes = {only};
  EXPECT_EQ(routed(request("docs/a.md", 1).what, context), targets({kSearch}));
  EXPECT_EQ(routed(request("src/a.md", 1).what, context), context.default_targets);
  EXPECT_EQ(routed(request("docs/a.txt", 1).what, context), context.default_targets);
}

}  // namespace
}  // namespace reseq::engine
