#include "tests/quickstart/made_history.h"

#include <gtest/gtest.h>

namespace reseq::test {
namespace {

constexpr int kGitLimitMs = 60'000;

constexpr const char* kBefore = R"(
set -e
git init -q -b main "$1"
cd "$1"
commit() { git add -A && git -c user.name=Test -c user.email=test@example.org commit -q -m change; }
)";

}  // namespace

std::string make_history(const TempDir& folder, const std::string& script) {
  std::string path = folder.path() + "/history";
  Process git({"bash", "-c", kBefore + script, "bash", path}, folder.path() + "/git.log");
  EXPECT_EQ(git.wait(kGitLimitMs), 0) << git.tail();
  return path;
}

}  // namespace reseq::test
