// script/test.d/alone finds what joined sources hide: a file that uses a name whose header only its neighbours include.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/support/process.h"
#include "tests/support/source_path.h"

namespace reseq::tidy {
namespace {

using testing::HasSubstr;

constexpr int kCheckLimitMs = 60'000;

class Alone : public testing::Test {
 protected:
  void SetUp() override { ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("XDG_CACHE_HOME"); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() + "/" + name) << text;
    return folder_.path() + "/" + name;
  }

  // What it prints, and its code, for these files of the build that this program is of.
  std::string check(const std::string& one, const std::string& other) {
    const std::filesystem::path build = std::filesystem::path(test::program("test_tidy")).parent_path().parent_path();
    test::Process alone({test::source_path("script/test.d/alone"), build, one, other}, folder_.path() + "/log");
    return "code " + std::to_string(alone.wait(kCheckLimitMs)) + "\n" + alone.tail();
  }

 private:
  test::TempDir folder_;
};

TEST_F(Alone, FindsTheSourceAndTheHeaderThatLackAnInclude) {
  const std::string source =
      write("source.cpp", "#include \"model/ids.h\"\nstd::filesystem::path nowhere() { return {}; }\n");
  const std::string header =
      write("header.h", "#pragma once\n#include <cstdint>\ninline std::regex any() { return {}; }\n");
  const std::string found = check(source, header);
  EXPECT_THAT(found, HasSubstr("code 1\n"));
  EXPECT_THAT(found, HasSubstr(source + " does not compile alone"));
  EXPECT_THAT(found, HasSubstr(header + " does not compile alone"));
}

TEST_F(Alone, LooksAgainAtWhatIsChangedAndOnlyAtThat) {
  const std::string source = write("source.cpp", "#include \"planted.h\"\nint one() { return kOne; }\n");
  const std::string header = write("planted.h", "#pragma once\ninline constexpr int kOne = 1;\n");
  EXPECT_THAT(check(source, header), HasSubstr("code 0\n2 files compiled alone, 0 of them with errors; 0 are"));
  EXPECT_THAT(check(source, header), HasSubstr("0 files compiled alone, 0 of them with errors; 2 are"));
  write("planted.h", "#pragma once\ninline constexpr int kTwo = 1;\n");
  const std::string changed = check(source, header);
  EXPECT_THAT(changed, HasSubstr("code 1\n"));
  EXPECT_THAT(changed, HasSubstr(source + " does not compile alone"));
}

}  // namespace
}  // namespace reseq::tidy
