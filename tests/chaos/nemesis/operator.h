// Operator: whoever is on call during a run. Gives the commands of the command line, one after the other, without
// waiting for them.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/chaos/nemesis/chronicle.h"
#include "tests/chaos/nemesis/site.h"
#include "tests/support/process.h"

namespace reseq::chaos {

class Operator {
 public:
  Operator(const Site& site, Chronicle& chronicle);

  // What it printed on standard output, called when it has ended with 0.
  using Then = std::function<void(const std::string& printed)>;
  // Gives it once, whatever becomes of it.
  void attempt(std::vector<std::string> words, Then then = {});
  // Gives it until it is confirmed: brokers may be away, and partitions between two owners.
  void insist(std::vector<std::string> words, Then then = {});

  void step();
  // Nothing is left to be confirmed.
  [[nodiscard]] bool idle() const { return commands_.empty(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Command {
    std::vector<std::string> words;
    Then then;
    bool insists = false;
  };
  void start();
  void end();

  const Site& site_;
  Chronicle& chronicle_;
  std::deque<Command> commands_;
  std::unique_ptr<test::Process> running_;
  std::unique_ptr<test::TempDir> printed_;
  Clock::time_point next_ = Clock::now();
};

}  // namespace reseq::chaos
