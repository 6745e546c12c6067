// The engine says of every random history what the job table says.
#include <gtest/gtest.h>
#include <iostream>

#include "tests/journal/checking.h"
#include "tests/journal/job_table.h"
#include "tests/journal/playing.h"
#include "tests/journal/world.h"

namespace reseq::journal {
namespace {

TEST(Engine, SaysWhatTheJobTableSays) {
  Hits hits;
  const auto failure = check(suite_amount(), [&](const History& history) -> std::optional<Wrong> {
    JobTable table(rules_of(history));
    EnginePlayer engine(rules_of(history), true);
    World world(history, table, &engine, &hits);
    std::string violation = world.play();
    if (violation.empty() && engine.held() != 0) violation = "something is held although nothing waits";
    if (violation.empty()) return std::nullopt;
    return Wrong{violation, world.story()};
  });
  std::cout << hits;
  if (failure) FAIL() << *failure;
}

}  // namespace
}  // namespace reseq::journal
