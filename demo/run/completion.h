// Completion: has everything arrived? Told by positions in Kafka alone, so that no wait is a guess.
//
// One sweep goes along the flow: all requests are decided, then all work is answered, then all commands are decided,
// then all sinks are at their ends. Each end is asked after the step before it was found complete, so what a step
// wrote is seen by the next one. The flow is complete when two sweeps in a row hold and saw the same ends: a commit
// marker that lands after its commit returned is in the second one.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "demo/run/settings.h"
#include "kafka/admin.h"

namespace reseq::demo {

// How far the flow is, for the progress line.
struct Flow {
  bool complete = false;
  std::string waiting_for;             // the first step that is behind
  bool requests_decided = false;       // all that were sent
  std::uint64_t commands_decided = 0;  // results that the resequencer has decided, at the last look
  std::uint64_t read = 0;  // what all steps together have read by then, sinks too: where it changes, it goes on
};

class Completion {
 public:
  static Result<Completion> open(const Settings& settings);

  // REQUIRES: the source has ended, else `complete` means nothing.
  Result<Flow> sweep();

  // All requests that were sent are decided, as far as Kafka answers.
  bool requests_decided();

 private:
  // One step of the flow: who must have read what up to its end.
  struct Step {
    std::string name;
    std::string group;  // empty: a sink, whose positions are in its progress file
    std::string topic;
    std::string progress_file;
  };
  Completion(std::unique_ptr<kafka::Admin> admin, std::vector<Step> steps)
      : admin_(std::move(admin)), steps_(std::move(steps)) {}
  Result<Flow> look();
  struct StepState {
    bool behind = false;
    std::uint64_t read = 0;
    std::vector<Offset> ends;
  };
  Result<StepState> look_at(const Step& step);
  Result<std::vector<Offset>> positions(const Step& step, std::size_t partitions);

  std::unique_ptr<kafka::Admin> admin_;
  std::vector<Step> steps_;
  std::vector<Offset> ends_before_;  // of the last sweep that held; empty = it did not
};

}  // namespace reseq::demo
