// World: a script played to its end: producers, pipeline, clock, batches over rows in memory, and the oracle that
// watches. The order of inputs in a batch and the answer to kRequestsFirst are the runtime's.
// Thread rule: one thread.
#pragma once

#include <string>
#include <vector>

#include "tests/property/deciding.h"
#include "tests/property/history.h"
#include "tests/property/hits.h"
#include "tests/property/model.h"
#include "tests/property/oracle.h"
#include "tests/property/pipeline.h"
#include "tests/property/producers.h"
#include "tests/property/script.h"

namespace reseq::property {

class World {
 public:
  // `hits` may be null.
  World(const Script& script, const WrongEngine& wrong, Hits* hits);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Plays the script, then lets everything arrive. Returns the first thing that the oracle found wrong, or nothing.
  [[nodiscard]] std::string play();

  // All batches, for a person.
  [[nodiscard]] std::string story() const;

 private:
  struct BatchSize {
    std::size_t requests = 0;
    std::size_t commands = 0;
    bool twice = false;  // the first attempt is aborted and thrown away
  };

  void play(const Step& step);
  void step_clock(const Step& step);
  void raise_floor(const Step& step);
  void run_batch(const BatchSize& size);
  [[nodiscard]] std::vector<PlannedInput> plan_inputs(const BatchSize& size) const;
  [[nodiscard]] std::vector<driver::GateTurn> turns_now() const;
  [[nodiscard]] LetThrough let_through(const std::string& key);
  [[nodiscard]] std::size_t document_at(Offset request) const;
  void take_back(const Decided& decided, const Plan& plan);
  void record(const Decided& decided, const Plan& plan);
  void record_emission(const Emission& emission, BatchRecord& batch);
  void record_event(const Event& event, BatchRecord& batch);
  void finish();
  void replay();
  void wrong(std::string_view what);

  const Script& script_;
  const WrongEngine& wrong_;
  Hits* hits_;
  Model model_;
  engine::Context context_;
  Logs logs_;
  Producers producers_;
  Pipeline pipeline_;
  Oracle oracle_;

  Rows rows_;
  PartitionState state_;
  std::size_t requests_next_ = 0;
  std::size_t commands_next_ = 0;
  std::size_t taken_by_tap_ = 0;
  std::size_t requests_first_ = 0;  // end of `requests`, as asked when a command met no registration
  std::size_t fetched_before_ = 0;  // commands that had been fetched when it was asked
  bool timers_due_ = false;
  std::vector<BatchRecord> batches_;
  std::string violation_;
};

}  // namespace reseq::property
