// Many random worlds.
#include "tests/property/checking.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <rapidcheck.h>
#include <sstream>
#include <unordered_map>

#include "tests/property/world.h"

namespace reseq::property {
namespace {

#ifdef RESEQ_SANITIZED
constexpr int kCases = 5'000;
#else
constexpr int kCases = 50'000;
#endif
constexpr std::uint64_t kSeed = 20'240'229;

const Script* running = nullptr;  // for a case that ends in an assertion of the engine

extern "C" void print_running(int) {
  if (running) {
    std::ostringstream text;
    text << "the engine ended the process while it played\n" << *running << "\n";
    std::fputs(text.str().c_str(), stderr);
  }
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
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

std::optional<Failure> check(const Amount& amount, const WrongEngine& engine, Hits* hits) {
  std::optional<Failure> smallest;
  const auto previous = std::signal(SIGABRT, print_running);
  const auto property = [&] {
    const Script script = *scripts();
    running = &script;
    World world(script, engine, hits);
    const std::string violation = world.play();
    running = nullptr;
    if (violation.empty()) return;
    smallest = Failure{0, violation, world.story(), script};
    RC_FAIL(violation);
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

}  // namespace reseq::property
