// clang-tidy reads joined sources (script/test.d/tidy): to it, all but the text that joins them are included files.
// Here each family of checks of .clang-tidy has to find something in such a file, and not in the first one.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <string>

#include "tests/support/process.h"
#include "tests/support/source_path.h"

namespace reseq::tidy {
namespace {

constexpr int kReadLimitMs = 60'000;

constexpr const char* kPlanted = R"(#include <pthread.h>
#include <string>

using namespace std;

namespace planted {

typedef int Number;

struct Shape {
  virtual void draw();
};

double half(int whole) { return whole / 2; }
bool is_itself(int one) { return one == one; }
bool is_blank(const std::string& text) { return text.size() == 0; }
std::size_t length(std::string text) { return text.size(); }
int cancel() { return pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr); }
int BadlyNamed() { return 1; }

}  // namespace planted
)";

class JoinedSources : public testing::Test {
 protected:
  // What clang-tidy says about both files, with the settings of the tree.
  static std::string findings() {
    const test::TempDir folder;
    const std::string place = folder.path() + "/resequencer";
    std::filesystem::create_directory(place);
    std::ofstream(place + "/first.cpp") << "namespace planted {\nint first() { return 1; }\n}  // namespace planted\n";
    std::ofstream(place + "/second.cpp") << kPlanted;
    std::ofstream(folder.path() + "/joined.cpp")
        << "#include \"resequencer/first.cpp\"  // NOLINT(bugprone-suspicious-include)\n"
        << "#include \"resequencer/second.cpp\"  // NOLINT(bugprone-suspicious-include)\n";
    test::Process tidy({"clang-tidy", "--config-file=" + test::source_path(".clang-tidy"), "--quiet",
                        folder.path() + "/joined.cpp", "--", "-std=c++20", "-I", folder.path()},
                       folder.path() + "/log");
    EXPECT_NE(tidy.wait(kReadLimitMs), 0) << "a finding is an error";
    return tidy.tail(64'000);
  }
};

TEST_F(JoinedSources, HideNothingFromAnyFamilyOfChecks) {
  const std::string found = findings();
  for (const char* check : {"bugprone-integer-division", "performance-unnecessary-value-param",
                            "concurrency-thread-canceltype-asynchronous", "cppcoreguidelines-virtual-class-destructor",
                            "google-build-using-namespace", "misc-redundant-expression", "modernize-use-using",
                            "readability-container-size-empty", "readability-identifier-naming"}) {
    EXPECT_TRUE(
        std::regex_search(found, std::regex("second\\.cpp:[0-9]+:[0-9]+: error: [^\n]*\\[" + std::string(check))))
        << check << " was not found in\n"
        << found;
  }
  EXPECT_EQ(found.find("joined.cpp:"), std::string::npos) << found;
}

}  // namespace
}  // namespace reseq::tidy
