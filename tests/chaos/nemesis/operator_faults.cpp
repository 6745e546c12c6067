// What whoever is on call does to partitions and documents while everything else goes wrong.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "model/ids.h"
#include "tests/chaos/nemesis/faults.h"
#include "tests/chaos/nemesis/operator.h"

namespace reseq::chaos {

namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kFloorAheadMs = 5'000;  // clocks of hosts differ by more

std::string any_partition(Scene& scene) {
  return std::to_string(scene.draw.below(static_cast<std::uint64_t>(scene.site.settings().partitions)));
}

Harm pause_partition(Scene& scene) {
  const std::string partition = any_partition(scene);
  const auto paused = std::make_shared<bool>(false);
  scene.on_call.insist({"pause", "--partition", partition}, [paused](const std::string&) { *paused = true; });
  return {.what = "partition " + partition,
          .heal =
              [&on_call = scene.on_call, partition] {
                on_call.insist({"resume", "--partition", partition});
              },
          .acted = [paused] { return *paused; }};
}

// Those that are listed first.
Harm expire(Scene& scene) {
  const auto expired = std::make_shared<int>(0);
  scene.on_call.attempt({"list", "--state", "overdue", "--max", "5", "-o", "json"}, [&on_call = scene.on_call, expired](
                                                                                        const std::string& printed) {
    const auto list = nlohmann::json::parse(printed.substr(std::min(printed.find('{'), printed.size())), nullptr,
                                            /*allow_exceptions=*/false);
    if (!list.is_object()) return;
    for (const auto& document : list.value("documents", nlohmann::json::array()))
      on_call.attempt({"expire", document.value("id", "")}, [expired](const std::string&) { ++*expired; });
  });
  return {.what = "what is overdue", .acted = [expired] { return *expired > 0; }};
}

Harm raise_floor(Scene& scene) {
  const auto now = std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  const std::uint64_t ms = static_cast<std::uint64_t>(now.count()) + scene.draw.below(kFloorAheadMs);
  const std::string partition = any_partition(scene);
  const auto raised = std::make_shared<bool>(false);
  scene.on_call.attempt({"raise-version-floor", std::to_string(ms << kVersionCounterBits), "--partition", partition},
                        [raised](const std::string&) { *raised = true; });
  return {
      .what = "partition " + partition, .over = [raised] { return *raised; }, .acted = [raised] { return *raised; }};
}

std::vector<const char*> listed_states(const SiteSettings& settings) {
  std::vector<const char*> states = {"live", "completed"};
  if (settings.journal) states.insert(states.end(), {"waiting", "processing", "stuck", "retrying", "failed"});
  if (settings.orders) states.insert(states.end(), {"held", "gap"});
  return states;
}

// No harm by itself: a process that reads its rows for somebody while they change must live.
Harm read_lists(Scene& scene) {
  const std::vector<const char*> states = listed_states(scene.site.settings());
  const auto answered = std::make_shared<std::size_t>(0);
  for (const char* state : states)
    scene.on_call.attempt({"list", "--state", state, "--max", "100", "-o", "json"},
                          [answered](const std::string&) { ++*answered; });
  return {.what = std::to_string(states.size()) + " states",
          .over = [answered, all = states.size()] { return *answered == all; },
          .acted = [answered] { return *answered > 0; }};
}

}  // namespace

std::vector<FaultKind> operator_faults() {
  return {
      {.name = "pause_partition",
       .meaning = "an operator pauses a partition, and resumes it",
       .shortest = milliseconds(5'000),
       .longest = milliseconds(15'000),
       .weight = 2,
       .begin = pause_partition},
      {.name = "expire",
       .meaning = "an operator expires documents that are overdue",
       .shortest = milliseconds(15'000),
       .longest = milliseconds(15'000),
       .begin = expire},
      {.name = "raise_floor",
       .meaning = "an operator raises the version floor of a partition",
       .shortest = milliseconds(10'000),
       .longest = milliseconds(10'000),
       .begin = raise_floor},
      {.name = "read_lists",
       .meaning = "an operator lists the documents in every state",
       .shortest = milliseconds(20'000),
       .longest = milliseconds(20'000),
       .begin = read_lists},
  };
}

}  // namespace reseq::chaos
