// Many random histories.
#include "tests/journal/checking.h"

#include <csetjmp>
#include <csignal>
#include <ostream>
#include <rapidcheck.h>
#include <unordered_map>

#include "base/assert.h"

namespace reseq::journal {
namespace {

#ifdef RESEQ_SANITIZED
constexpr int kCases = 3'000;
#else
constexpr int kCases = 30'000;
#endif
constexpr std::uint64_t kSeed = 20'240'301;

sigjmp_buf back;  // to the case that is being played

// An assertion of the engine is a violation like any other, so that its case is cut down. What the case had made is
// left behind.
extern "C" void leave_case(int) {
  siglongjmp(back, 1);
}

std::optional<Wrong> play_guarded(const Play& play, const History& history) {
  if (sigsetjmp(back, 1) != 0) return Wrong{"an assertion failed: its text is in front of this", {}};
  return play(history);
}

// Says nothing: what fails is printed by the test.
class Silent final : public rc::detail::TestListener {
 public:
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

}  // namespace

Amount suite_amount() {
  return test::amount_of_suite(kCases, kSeed);
}

std::ostream& operator<<(std::ostream& out, const Failure& failure) {
  return out << "case " << failure.after_cases << ", cut down to\n"
             << failure.history << "\n"
             << failure.wrong.story << failure.wrong.violation;
}

std::optional<Failure> check(const Amount& amount, const Play& play) {
  std::optional<Failure> smallest;
  const auto previous = std::signal(SIGABRT, leave_case);
  const auto property = [&] {
    const History history = *histories();
    const auto wrong = play_guarded(play, history);
    if (!wrong) return;
    smallest = Failure{0, *wrong, history};
    RC_FAIL(wrong->violation);
  };
  rc::detail::TestParams parameters;
  parameters.seed = amount.seed;
  parameters.maxSuccess = amount.cases;
  parameters.disableShrinking = !amount.shrink;
  Silent silent;
  const rc::detail::TestResult result =
      rc::detail::checkTestable(property, rc::detail::TestMetadata{}, parameters, silent,
                                std::unordered_map<std::string, rc::detail::Reproduce>{});
  std::signal(SIGABRT, previous);
  if (result.template is<rc::detail::SuccessResult>()) return std::nullopt;
  RESEQ_ASSERT(smallest.has_value(), "rapidcheck failed without a case that is wrong");
  rc::detail::FailureResult failure;
  if (result.match(failure)) smallest->after_cases = failure.numSuccess + 1;
  return smallest;
}

}  // namespace reseq::journal
