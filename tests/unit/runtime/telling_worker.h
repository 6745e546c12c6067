// A worker that owns the one partition of a simulated application, and what its instance tells of it.
// Thread rule: one thread.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/desk/admin_replies.h"
#include "runtime/desk/metrics_text.h"
#include "runtime/desk/state_question.h"
#include "simulated_application.h"

namespace reseq::runtime {

class TellingWorker : public SimulatedApplication {
 protected:
  explicit TellingWorker(config::Settings from = of_one_target()) : SimulatedApplication(1, std::move(from)) {
    while (worker.tasks().empty() || worker.tasks().front()->phase() != Phase::kRunning) step();
  }
  void step() {
    test::good(worker.step());
    ticks(1);
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  std::vector<Board::Seen> seen() {
    Board board(1);
    board.publish(worker.report());
    return board.look();
  }
  std::string text() { return metrics_text(application, seen(), clock.steady()); }
  StateAnswered ask(std::variant<admin::DocumentQuery, admin::ListQuery> what, Partition partition = Partition(0)) {
    return answer_from({partition, std::move(what), Milliseconds(0), nullptr}, worker, application, clock.now());
  }

  Worker worker{application, *kafka, clock, shelf, [] { return HashKey{}; }};
};

}  // namespace reseq::runtime
