// The faults that the nemesis knows. A fault is a function that does its harm and returns how it goes on and how it is
// healed. What it excuses (lines and ends that would be violations otherwise) is said beside it, and ends with it. One
// that finds nothing to harm says so, at its beginning or at its end, and is not counted.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/chaos/cluster/cluster.h"
#include "tests/chaos/nemesis/chronicle.h"
#include "tests/chaos/nemesis/crew.h"
#include "tests/chaos/nemesis/failpoints.h"
#include "tests/chaos/nemesis/operator.h"
#include "tests/chaos/nemesis/site.h"
#include "tests/simulation/kafka/draw.h"

namespace reseq::chaos {

// What faults act on.
struct Scene {
  Chronicle& chronicle;
  Crew& crew;
  Cluster& cluster;
  const Site& site;
  Failpoints& failpoints;
  Operator& on_call;
  simulation::Draw& draw;
  std::function<void(bool)> rest;  // true: producers write nothing new for the time being
};

struct Harm {
  std::string what;  // one line, for the log
  std::function<void()> heal = [] {};
  std::function<void()> step = [] {};                 // called often until it is healed
  std::function<bool()> over = [] { return false; };  // nothing is left to do: it may be healed before its time
  std::vector<Words> excused = {};
  std::function<bool()> acted = [] { return true; };  // asked when it is healed: did it do anything?
  bool impossible = false;                            // nothing was done, there is nothing to heal
};

// Of a harm that cannot be done now; `why` is told.
[[nodiscard]] Harm nothing(const std::string& why);

struct FaultKind {
  std::string_view name;
  std::string_view meaning;  // one sentence
  std::chrono::milliseconds shortest{0};
  std::chrono::milliseconds longest{0};
  unsigned weight = 1;  // how often it is drawn, beside the others
  int brokers_min = 1;
  bool between_clients_and_brokers = false;  // librdkafka may call what it sees of it an error
  Harm (*begin)(Scene&) = nullptr;
};

[[nodiscard]] const std::vector<FaultKind>& fault_kinds();

// The parts of that list.
[[nodiscard]] std::vector<FaultKind> process_faults();
[[nodiscard]] std::vector<FaultKind> host_faults();
[[nodiscard]] std::vector<FaultKind> broker_faults();
[[nodiscard]] std::vector<FaultKind> network_faults();
[[nodiscard]] std::vector<FaultKind> operator_faults();

// One of the resequencers.
[[nodiscard]] Member& any_resequencer(Scene& scene);

}  // namespace reseq::chaos
