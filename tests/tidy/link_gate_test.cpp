#include <gtest/gtest.h>

#include "gates.h"

namespace reseq::tidy {
namespace {

std::string link_report(const std::string& text) {
  return to_text(check_links(SourceTree({{"docs/a.md", text}, {"docs/b.md", ""}, {"schemas/golden/x.hex", ""}})));
}

TEST(Links, LeadSomewhereInTheTree) {
  EXPECT_EQ(to_text(check_links(SourceTree::of_this_project())), "");
}

TEST(Links, ReportWhatIsNotThere) {
  EXPECT_EQ(link_report("text\n[x](c.md)\n"), "docs/a.md:2: leads nowhere: docs/c.md\n");
  EXPECT_EQ(link_report("[x](b.md) [y](../docs/d.md#part)\n"), "docs/a.md:1: leads nowhere: docs/d.md\n");
  EXPECT_EQ(link_report("[x](../../elsewhere)\n"), "docs/a.md:1: leads nowhere: ../elsewhere\n");
}

TEST(Links, MayLeadToFilesFoldersAnchorsAndAddresses) {
  EXPECT_EQ(link_report("[x](b.md) [y](b.md#part) [z](../schemas/golden/) [u](#here) [v](https://kafka.apache.org/)\n"),
            "");
}

TEST(Links, InCodeAreNoLinks) {
  EXPECT_EQ(link_report("`[x](c.md)`\n```\n[x](c.md)\n```\n"), "");
}

}  // namespace
}  // namespace reseq::tidy
