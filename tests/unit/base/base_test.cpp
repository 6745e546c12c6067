#include <cstdlib>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <xxhash.h>

#include "base/arena.h"
#include "base/id_hash.h"
#include "base/json_lines.h"
#include "base/log.h"
#include "base/result.h"
#include "base/strong.h"

namespace reseq {
namespace {

TEST(Log, EscapesTextFromOutsideAndCutsIt) {
  EXPECT_EQ(log::outside("plain"), "\"plain\"");
  EXPECT_EQ(log::outside("a\nb\x1b[31m\"\\\xff"), "\"a\\x0ab\\x1b[31m\\\"\\\\\\xff\"");
  const std::string cut = log::outside(std::string(300, 'x'));
  EXPECT_EQ(cut, "\"" + std::string(256, 'x') + "\"(300 bytes)");
}

TEST(Log, KeepsAWholeLineAndEscapesIt) {
  EXPECT_EQ(log::one_line("no \"quotes\"\r\n\x1b[31m \xe2\x80\xae\x7f"),
            "no \"quotes\"\\x0d\\x0a\\x1b[31m \\xe2\\x80\\xae\\x7f");
  EXPECT_EQ(log::one_line(std::string(1000, 'x')), std::string(1000, 'x'));
}

std::string json_line(std::string_view message) {
  spdlog::memory_buf_t line;
  log::JsonLines().format({"resequencer", spdlog::level::warn, spdlog::string_view_t(message.data(), message.size())},
                          line);
  return {line.data(), line.size()};
}

TEST(Log, IsOneLineOfJsonWhateverTheMessageHolds) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  for (const std::string& message : {std::string(), std::string("plain"), bytes, "x=" + bytes, "x=\"" + bytes}) {
    const std::string line = json_line(message);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto json = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line;
    EXPECT_EQ(json.at("level"), "warning");
    EXPECT_EQ(json.at("time").get<std::string>().size(), std::string("2026-01-01T00:00:00.000+00:00").size());
  }
}

TEST(Log, HasTheWordsOfALineAsFieldsOfItsJson) {
  const auto fields_of = [](const std::string& message) {
    const auto json = nlohmann::json::parse(json_line(message));
    EXPECT_EQ(json.at("message"), message);
    return json.value("fields", nlohmann::json());
  };
  EXPECT_EQ(fields_of("partition=3 takeover=ready folder=" + log::outside("a \"b\" \\ c=d") + " ms=12"),
            nlohmann::json::parse(R"({"partition":"3","takeover":"ready","folder":"a \"b\" \\ c=d","ms":"12"})"));
  EXPECT_EQ(fields_of("clock=stepped forward by more than max_clock_jump_ms: set it back"),
            nlohmann::json::parse(R"({"clock":"stepped"})"));
  EXPECT_EQ(fields_of("no fields, = nor here=\"open"), nlohmann::json::parse(R"({"here":"open"})"));
  EXPECT_EQ(fields_of("none at all"), nlohmann::json());
}

// The secrets of a process stay: in a process of its own.
TEST(LogDeathTest, HidesSecretsWhereverTheyStand) {
  const auto hides = [] {
    log::hide_secret("hunter2");
    log::hide_secret("hunter2-and-more");
    log::hide_secret("abc");
    const bool hidden =
        log::outside("user=x password=hunter2 again hunter2") == "\"user=x password=******** again ********\"" &&
        log::one_line("hunter2-and-more") == "********" && log::outside("abc") == "\"abc\"" &&
        log::outside(std::string(252, 'x') + "hunter2") == "\"" + std::string(252, 'x') + "****\"(260 bytes)";
    std::exit(hidden ? 0 : 1);
  };
  EXPECT_EXIT(hides(), testing::ExitedWithCode(0), "");
}

TEST(IdHash, IsKeyedByTheProcess) {
  EXPECT_EQ(IdHash()("doc-1"), IdHash()(std::string("doc-1")));
  EXPECT_NE(IdHash()("doc-1"), IdHash()("doc-2"));
  EXPECT_NE(IdHash()("doc-1"), XXH3_64bits("doc-1", 5));
  EXPECT_NE(IdHash()("doc-1"), std::hash<std::string_view>()("doc-1"));
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 5;
  const Result<int> bad = Error{ErrorClass::kRetriable, 7, "later"};
  EXPECT_EQ(good.value(), 5);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, 7);
}

TEST(Result, DiesWhenTheValueOfAnErrorIsTaken) {
  const Result<int> bad = Error{ErrorClass::kFatal, 0, "no"};
  EXPECT_DEATH((void)bad.value(), "value of a failed result");
}

TEST(Arena, KeepsCopiesUntilItIsReset) {
  Arena arena;
  std::string text = "first";
  const std::string_view copy = arena.copy(text);
  text = "other";
  for (int i = 0; i < 1000; ++i) (void)arena.copy(std::string(100, 'x'));
  EXPECT_EQ(copy, "first");
  EXPECT_EQ(arena.copy("").size(), 0U);
}

TEST(Strong, ComparesLikeItsValue) {
  using Length = Strong<struct LengthTag, int>;
  EXPECT_LT(Length(1), Length(2));
  EXPECT_EQ(Length(), Length(0));
}

}  // namespace
}  // namespace reseq
