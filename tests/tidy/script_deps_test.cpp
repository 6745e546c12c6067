// Scripts that build something ask for its packages first: on a fresh machine CMake's words would be all that they say.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

#include "tests/support/process.h"
#include "tests/support/source_path.h"

namespace reseq::tidy {
namespace {

namespace fs = std::filesystem;

constexpr int kScriptLimitMs = 30'000;
constexpr int kUnavailable = 69;

class Script : public testing::TestWithParam<const char*> {
 protected:
  // In a tree of its own, whose script/deps says what it was asked for and that it cannot be had.
  Script() {
    fs::create_directories(folder_.path() + "/script");
    fs::copy(test::source_path(name()), folder_.path() + "/" + name());
    std::ofstream(folder_.path() + "/script/deps") << "#!/bin/sh\necho \"asked for $1\" >&2\nexit 69\n";
    fs::permissions(folder_.path() + "/script/deps", fs::perms::owner_all);
  }
  static std::string name() { return std::string("script/") + GetParam(); }
  int run(const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = {"env", "-u", "RESEQ_PROGRAMS", folder_.path() + "/" + name()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    test::Process script(argv, log());
    return script.wait(kScriptLimitMs);
  }
  [[nodiscard]] std::string printed() const {
    std::ifstream file(log());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  [[nodiscard]] std::string log() const { return folder_.path() + "/log"; }
  test::TempDir folder_;
};

TEST_P(Script, AsksForItsPackagesBeforeItBuilds) {
  EXPECT_EQ(run({}), kUnavailable) << printed();
  EXPECT_NE(printed().find("asked for "), std::string::npos) << printed();
}

TEST_P(Script, DoesNothingButTellItsUsageWhenAskedForHelp) {
  EXPECT_EQ(run({"--help"}), 0) << printed();
  EXPECT_NE(printed().find("  " + name()), std::string::npos) << printed();
  EXPECT_EQ(printed().find("asked for "), std::string::npos) << printed();
  EXPECT_EQ(printed().find("shellcheck"), std::string::npos) << printed();
}

INSTANTIATE_TEST_SUITE_P(All, Script, testing::Values("simulate", "chaos", "bench", "takeover", "package"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace reseq::tidy
