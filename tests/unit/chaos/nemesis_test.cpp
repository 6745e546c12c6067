// What the last line of a chaos run counts as faults did something.
#include "tests/chaos/nemesis/nemesis.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

#include "tests/support/process.h"

namespace reseq::chaos {
namespace {

using std::chrono::milliseconds;

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

FaultKind kind(std::string_view name) {
  return {.name = name, .meaning = "for a test"};
}

// Three faults, all due at once: one is impossible, one finds nothing to harm while it lasts, one does harm.
TEST(Nemesis, CountsOnlyFaultsThatDidSomething) {
  const test::TempDir folder;
  const std::string file = folder.path() + "/faults.log";
  Chronicle chronicle(file);
  int healed = 0;
  Nemesis nemesis(chronicle, {kind("dead"), kind("idle"), kind("harm")}, {{.kind = 0}, {.kind = 1}, {.kind = 2}},
                  [&](const FaultKind& kind, simulation::Draw&) -> Harm {
                    if (kind.name == "dead") return nothing("it does not run");
                    return {.what = "r1", .heal = [&] { ++healed; }, .acted = [&kind] { return kind.name == "harm"; }};
                  });
  nemesis.step();
  EXPECT_TRUE(nemesis.done());
  EXPECT_EQ(nemesis.faults(), 1U);
  EXPECT_EQ(nemesis.in_vain(), 2U);
  EXPECT_EQ(nemesis.by_kind().size(), 1U);
  EXPECT_EQ(nemesis.by_kind().at("harm"), 1U);
  EXPECT_EQ(healed, 2) << "what is impossible has nothing to heal";
  const std::string log = file_text(file);
  EXPECT_NE(log.find("begin dead nothing: it does not run\n"), std::string::npos) << log;
  EXPECT_NE(log.find("end   idle r1: in vain\n"), std::string::npos) << log;
  EXPECT_NE(log.find("end   harm r1\n"), std::string::npos) << log;
}

TEST(Nemesis, ExcusesNothingForWhatIsImpossible) {
  const test::TempDir folder;
  Chronicle chronicle(folder.path() + "/faults.log");
  FaultKind broker_kill = kind("broker_kill");
  broker_kill.between_clients_and_brokers = true;
  Nemesis nemesis(chronicle, {broker_kill}, {{.kind = 0}},
                  [](const FaultKind&, simulation::Draw&) { return nothing("broker 1 is dead"); });
  nemesis.step();
  chronicle.complain(std::string("r1: ") + kLibraryError + "FAIL");
  EXPECT_EQ(chronicle.violations().size(), 1U);
}

TEST(Supervised, SaysWhetherAnybodyWasKilled) {
  const test::TempDir folder;
  std::vector<End> ends;
  Supervised process(
      {.name = "sleeper", .argv = {"sleep", "600"}, .environment = {}, .log_file = folder.path() + "/log"},
      [&](const End& end) { ends.push_back(end); });
  EXPECT_FALSE(process.kill());
  EXPECT_FALSE(process.pause());
  process.step();
  EXPECT_TRUE(process.pause());
  EXPECT_TRUE(process.kill());
  EXPECT_FALSE(process.kill());
  EXPECT_FALSE(process.terminate());
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_TRUE(ends.front().killed);
}

}  // namespace
}  // namespace reseq::chaos
