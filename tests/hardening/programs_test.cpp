// How the programs of a release are built, read from the programs themselves: what an attacker of the process would
// have to get around (docs/security.md, "The programs"). A flag that a build file loses is lost here first.
#include <array>
#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::array kPrograms = {"resequencer",         "reseq-produce",        "reseq-stage",
                                  "reseq-sink-sqlite",   "reseq-sink-files",     "reseq-sink-ndjson",
                                  "reseq-sink-postgres", "reseq-sink-opensearch"};

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 65536> chunk{};
  for (std::size_t got = 0; (got = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;)
    text.append(chunk.data(), got);
  return ::pclose(pipe) == 0 ? text : std::string();
}

std::string line_with(const std::string& text, const std::string& word) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(word) != std::string::npos) return line;
  return {};
}

class Program : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(RESEQ_BUILD_TYPE) != "Release") GTEST_SKIP() << "only a release build is hardened";
  }
  [[nodiscard]] static std::string elf(const std::string& options) {
    std::string text = output_of("LC_ALL=C readelf -W " + options + " '" + program(GetParam()) + "'");
    EXPECT_NE(text, "") << "readelf cannot read " << program(GetParam());
    return text;
  }
};

TEST_P(Program, IsPositionIndependent) {
  EXPECT_THAT(line_with(elf("-h"), "Type:"), HasSubstr("DYN"));
  EXPECT_THAT(line_with(elf("-d"), "FLAGS_1"), HasSubstr("PIE"));
  EXPECT_THAT(elf("-d"), Not(HasSubstr("TEXTREL")));
}

TEST_P(Program, ResolvesItsSymbolsFirstAndProtectsTheirTable) {
  EXPECT_THAT(elf("-l"), HasSubstr("GNU_RELRO"));
  EXPECT_THAT(line_with(elf("-d"), "FLAGS_1"), HasSubstr("NOW"));
}

TEST_P(Program, HasNoExecutableStackAndNoPageThatIsWritableAndExecutable) {
  EXPECT_THAT(line_with(elf("-l"), "GNU_STACK"), Not(HasSubstr("RWE")));
  EXPECT_THAT(elf("-l"), Not(HasSubstr("RWE")));
}

TEST_P(Program, LooksForLibrariesOnlyWhereTheSystemDoes) {
  EXPECT_THAT(elf("-d"), Not(HasSubstr("RPATH")));
  EXPECT_THAT(elf("-d"), Not(HasSubstr("RUNPATH")));
}

TEST_P(Program, ChecksItsStackAndTheBoundsOfTheLibrary) {
  const std::string symbols = elf("--dyn-syms");
  EXPECT_THAT(symbols, HasSubstr("__stack_chk_fail"));
  EXPECT_THAT(symbols, testing::ContainsRegex("__[a-z]*printf_chk|__mem[a-z]*_chk|__read_chk"));
}

// Each compiled file says in its debug part how it was compiled.
TEST_P(Program, IsCompiledWithEveryProtection) {
  std::set<std::string> producers;
  std::istringstream lines(elf("--debug-dump=info --dwarf-depth=1"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("GNU C++");
    if (line.find("DW_AT_producer") != std::string::npos && at != std::string::npos) producers.insert(line.substr(at));
  }
  ASSERT_FALSE(producers.empty());
  for (const std::string& producer : producers) {
    EXPECT_THAT(producer, HasSubstr("-fstack-protector-strong"));
    EXPECT_THAT(producer, HasSubstr("-fstack-clash-protection"));
#ifdef __x86_64__
    EXPECT_THAT(producer, HasSubstr("-fcf-protection=full"));
#endif
    EXPECT_THAT(producer, HasSubstr("-fPI"));
  }
}

INSTANTIATE_TEST_SUITE_P(Release, Program, testing::ValuesIn(kPrograms), [](const auto& one) {
  std::string name(one.param);
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace reseq::test
