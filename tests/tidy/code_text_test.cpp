#include "code_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::tidy {
namespace {

std::vector<std::string> spans(std::string_view text) {
  std::vector<std::string> found;
  for (const Function& function : functions_of(text)) {
    found.push_back(std::to_string(function.first_line) + "-" + std::to_string(function.last_line));
  }
  return found;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CodeOnly, BlanksCommentsAndKeepsLines) {
  EXPECT_EQ(code_only("a // b\nc /* d\n e */ f"), "a     \nc     \n      f");
}

TEST(CodeOnly, BlanksLiteralsWithTheirEscapes) {
  EXPECT_EQ(code_only(R"(f("a\"{", '{', u8'}');)"), "f(\"    \", ' ', u8' ');");
}

TEST(CodeOnly, BlanksRawLiterals) {
  EXPECT_EQ(code_only("x = R\"q(}\")\"{)q\";"), "x =             ;");
}

TEST(CodeOnly, TakesDigitSeparatorsForNumbers) {
  EXPECT_EQ(code_only("1'000 + 'a'"), "1'000 + ' '");
}

TEST(Functions, AreFoundInNamespacesAndClasses) {
  EXPECT_THAT(spans("namespace a {\nclass B : public C {\n public:\n  int f() const {\n    return 1;\n  }\n};\n"
                    "template <typename T, int N = (1)>\nT g(T x) {\n  return x;\n}\n}  // namespace a\n"),
              ElementsAre("4-6", "8-11"));
}

TEST(Functions, HaveMemberInitialisersInTheirHead) {
  EXPECT_THAT(spans("A::A(int x) : a_{x}, b_(f(x)), c_{} {\n  g();\n}\nA::~A() {\n}\n"), ElementsAre("1-3", "4-5"));
}

TEST(Functions, AreNotInitialisersOfVariables) {
  EXPECT_THAT(spans("constexpr std::array<int, size(a)> kTable = {\n1,\n2};\nint x{3};\nauto y = f({\n1});\n"
                    "enum class E { kA };\nstruct S {\n  int a = 1;\n};\n"),
              IsEmpty());
}

TEST(Functions, MayHaveBracesInDefaultArguments) {
  EXPECT_THAT(spans("void f(A a = {}, B b = B{1}) {\n  if (a) {\n    g();\n  }\n}\n"), ElementsAre("1-5"));
}

TEST(Functions, MayBeTestMacrosOperatorsAndTrailingReturns) {
  EXPECT_THAT(spans("TEST(A, B) {\n}\nbool operator()(int a) const {\n}\nauto f() -> std::vector<int> {\n}\n"),
              ElementsAre("1-2", "3-4", "5-6"));
}

TEST(Functions, CountTheLambdasInThem) {
  EXPECT_THAT(spans("void f() {\n  auto g = [](int x) {\n    return x;\n  };\n}\n"), ElementsAre("1-5"));
}

TEST(Functions, IgnorePreprocessorLines) {
  EXPECT_THAT(spans("#define OPEN \\\n  {\nvoid f() {\n}\n"), ElementsAre("3-4"));
}

}  // namespace
}  // namespace reseq::tidy
