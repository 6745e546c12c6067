#include "cli/option_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/table.h"

namespace reseq::cli {
namespace {

enum class Colour : std::uint8_t { kRed, kBlue };

class OptionValues : public testing::Test {
 protected:
  OptionValues() {
    app_.add_option("--colour", colour_)->transform(one_of<Colour>({{"red", Colour::kRed}, {"blue", Colour::kBlue}}));
    app_.add_option("--since", since_ms_)->transform(duration());
    app_.add_option("--version", version_)->check(whole_number(1, 10'000));
  }
  // What is said of the arguments; empty: nothing is wrong.
  std::string parse(std::vector<std::string> reversed) {
    try {
      app_.parse(reversed);
      return "";
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
  }
  CLI::App app_;
  Colour colour_ = Colour::kRed;
  std::int64_t since_ms_ = 0;
  std::uint64_t version_ = 0;
};

TEST_F(OptionValues, AreOneWordOfAFew) {
  EXPECT_EQ(parse({"blue", "--colour"}), "");
  EXPECT_EQ(colour_, Colour::kBlue);
  EXPECT_EQ(parse({"green", "--colour"}), "--colour: \"green\" is none of blue, red");
  EXPECT_EQ(parse({"1", "--colour"}), "--colour: \"1\" is none of blue, red");
}

TEST_F(OptionValues, AreDurationsWithTheirUnit) {
  EXPECT_EQ(parse({"90s", "--since"}), "");
  EXPECT_EQ(since_ms_, 90'000);
  EXPECT_EQ(parse({"2h", "--since"}), "");
  EXPECT_EQ(since_ms_, 7'200'000);
  const std::string said = " is no time: a whole number with ms, s, m, h or d behind it, as 90s";
  EXPECT_EQ(parse({"90", "--since"}), "--since: \"90\"" + said);
  for (const std::string wrong : {"", "s", "9 s", "-1s", "9w", "1.5h", "9223372036854775807s"})
    EXPECT_EQ(parse({wrong, "--since"}), "--since: \"" + wrong + "\"" + said);
}

TEST_F(OptionValues, AreWholeNumbersWithoutSign) {
  EXPECT_EQ(parse({"7", "--version"}), "");
  EXPECT_EQ(version_, 7U);
  for (const std::string wrong : {"0", "-5", "+5", "5 ", "010", "10001", "18446744073709551616", "five"})
    EXPECT_EQ(parse({wrong, "--version"}), "--version: \"" + wrong + "\" is no whole number from 1 to 10000");
}

TEST(IdCell, OfALongIdIsItsBeginning) {
  const std::string longest(64, 'x');
  EXPECT_EQ(id_cell(longest), longest);
  EXPECT_EQ(id_cell(longest + "y"), longest + "...");
}

}  // namespace
}  // namespace reseq::cli
