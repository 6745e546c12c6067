#include <gtest/gtest.h>

#include "gates.h"

namespace reseq::tidy {
namespace {

std::string orphan_report(const std::vector<File>& files) {
  return to_text(check_orphans(SourceTree(files)));
}

TEST(Orphans, AreNotInTheTree) {
  EXPECT_EQ(to_text(check_orphans(SourceTree::of_this_project())), "");
}

TEST(Orphans, AreSourcesThatNoTargetBuilds) {
  const File root{"CMakeLists.txt", "add_subdirectory(demo)\n"};
  const std::string nobody = "demo/a.cpp: no target of its folder's CMakeLists.txt builds it\n";
  EXPECT_EQ(orphan_report({root, {"demo/a.cpp", ""}}), nobody);
  EXPECT_EQ(orphan_report({root, {"demo/a.cpp", ""}, {"demo/CMakeLists.txt", "reseq_program(x SOURCES b.cpp)\n"}}),
            nobody);
  EXPECT_EQ(orphan_report({root, {"demo/a.cpp", ""}, {"demo/CMakeLists.txt", "reseq_program(x SOURCES a.cpp)\n"}}), "");
  EXPECT_EQ(orphan_report({root, {"demo/a.cpp", ""}, {"demo/CMakeLists.txt", "reseq_library(demo)\n"}}), "");
}

TEST(Orphans, AreFoldersThatNoBuildFileAdds) {
  const std::vector<File> files = {{"CMakeLists.txt", "add_subdirectory(demo)\n"},
                                   {"demo/CMakeLists.txt", "add_subdirectory(other)\n"},
                                   {"demo/show/CMakeLists.txt", "reseq_library(show)\n"},
                                   {"demo/show/a.cpp", ""}};
  EXPECT_EQ(orphan_report(files), "demo/show/a.cpp: no CMakeLists.txt adds its folder\n");
}

TEST(Orphans, AreSourcesInAFolderThatIsNoPartOfItsParent) {
  const File root{"CMakeLists.txt", "add_subdirectory(demo)\n"};
  const File part{"demo/show/a.cpp", ""};
  EXPECT_EQ(orphan_report({root, part, {"demo/CMakeLists.txt", "reseq_library(demo FOLDERS other show)\n"}}), "");
  for (const std::string build : {"reseq_library(demo)\n", "reseq_library(demo FOLDERS other)\n"})
    EXPECT_EQ(orphan_report({root, part, {"demo/CMakeLists.txt", build}}),
              "demo/show/a.cpp: no target of its folder's CMakeLists.txt builds it\n");
}

TEST(Orphans, AreHeadersThatNothingIncludes) {
  EXPECT_EQ(orphan_report({{"resequencer/base/a.h", "#include \"base/a.h\"\n"}}),
            "resequencer/base/a.h: nothing includes it\n");
  EXPECT_EQ(orphan_report({{"resequencer/base/a.h", "#include \"base/b.h\"\n"},
                           {"resequencer/base/b.h", "#include \"base/a.h\"\n"}}),
            "");
}

TEST(Orphans, AreDocumentsThatNoOtherOneLinks) {
  EXPECT_EQ(orphan_report({{"docs/a.md", "[me](a.md)\n"}}), "docs/a.md: no other .md links it\n");
  EXPECT_EQ(orphan_report({{"docs/a.md", ""}, {"README.md", "[a](docs/a.md)\n"}}), "");
  EXPECT_EQ(orphan_report({{"schemas/a.json", ""}, {"README.md", "[all](schemas/)\n"}}),
            "schemas/a.json: no other .md links it\n");
  EXPECT_EQ(orphan_report({{"schemas/golden/a.hex", ""}, {"README.md", "[all](schemas/golden/)\n"}}), "");
}

TEST(Orphans, AreDecisionsThatTheIndexLacks) {
  const File readme{"README.md", "[x](docs/decisions/0001-a.md) [i](docs/decisions/README.md)\n"};
  const File decision{"docs/decisions/0001-a.md", ""};
  EXPECT_EQ(orphan_report({readme, decision, {"docs/decisions/README.md", ""}}),
            "docs/decisions/0001-a.md: not in docs/decisions/README.md\n");
  EXPECT_EQ(orphan_report({readme, decision, {"docs/decisions/README.md", "[a](0001-a.md)\n"}}), "");
  EXPECT_EQ(orphan_report({readme,
                           decision,
                           {"docs/decisions/0001-b.md", ""},
                           {"docs/decisions/README.md", "[a](0001-a.md) [b](0001-b.md)\n"}}),
            "docs/decisions/0001-b.md: its number is taken\n");
}

}  // namespace
}  // namespace reseq::tidy
