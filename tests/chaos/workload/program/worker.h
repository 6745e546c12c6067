// Worker: reads work and answers as the plan says, each answer at its time. A record is finished when all answers to it
// were sent.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "base/result.h"
#include "consumers/stage/stage.h"
#include "tests/chaos/workload/treatment.h"

namespace reseq::chaos {

class Worker {
 public:
  Worker(std::unique_ptr<stage::Stage> stage, std::uint64_t seed) : stage_(std::move(stage)), seed_(seed) {}

  // Until `stop`; then it waits a while for acknowledgements. What is in flight is answered by whoever comes next.
  Result<> run(const std::function<bool()>& stop);

 private:
  using Clock = std::chrono::steady_clock;
  struct Record {
    stage::Work work;
    std::size_t open = 0;  // answers that were not sent
  };
  struct Waiting {
    Clock::time_point due;
    std::uint64_t number;  // equal times keep their order
    std::shared_ptr<Record> record;
    stage::StageResult result;
    friend bool operator>(const Waiting& a, const Waiting& b) {
      return a.due != b.due ? a.due > b.due : a.number > b.number;
    }
  };
  void take(stage::Work work);
  Result<> send_what_is_due();
  [[nodiscard]] Milliseconds until_next() const;

  std::unique_ptr<stage::Stage> stage_;
  std::uint64_t seed_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::uint64_t scheduled_ = 0;
};

}  // namespace reseq::chaos
