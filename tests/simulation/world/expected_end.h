// ExpectedEnd: what the outputs of a partition must look like, told from what producers asked for and what the pipeline
// answered, without the engine's tables: per document and target the last release is the highest order asked for,
// unless the pipeline lost it, gave it up or made it too large; releases rise; none lies below a delete for all
// targets.
// A document begins a new life when its watermark has expired.
// Thread rule: one thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tests/simulation/world/pipeline.h"
#include "tests/simulation/world/replay.h"

namespace reseq::simulation {

class ExpectedEnd {
 public:
  ExpectedEnd(const Scenario& scenario, const Producers& producers, const Pipeline& pipeline)
      : scenario_(scenario), producers_(producers), pipeline_(pipeline) {}

  // The first thing wrong, or nothing.
  [[nodiscard]] std::string judge(const Replay& replay);

 private:
  using Order = std::pair<std::uint32_t, std::uint64_t>;  // epoch, sequence
  struct Target {
    std::optional<Order> asked;
    std::optional<Order> released;
    std::uint64_t released_revision = 0;
  };
  struct Document {
    std::map<std::string, Target> targets;  // those asked for
    std::optional<Order> barrier;
  };

  void take_request(const Decided& decided);
  void take_removal_for_all(const std::string& id, const Order& order);
  void take_command(const Decided& decided);
  void take_release(const Released& released);
  void judge_payload(const Released& released);
  void end_life(const std::string& id);
  [[nodiscard]] std::set<std::string> default_targets() const;
  void wrong(const std::string& what);

  const Scenario& scenario_;
  const Producers& producers_;
  const Pipeline& pipeline_;
  std::map<std::string, Document> documents_;
  std::map<std::pair<std::string, Order>, std::set<std::string>> payloads_;
  std::map<std::string, std::set<Piece>> answered_;  // by document, in its present life
  std::set<Piece> forgotten_;                        // answered in a life that has ended: not answered again
  std::uint32_t default_epoch_ = 0;
  std::string wrong_;
};

}  // namespace reseq::simulation
