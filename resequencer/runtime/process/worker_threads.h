// WorkerThreads: all workers of the process, each with its clients and a thread that steps it, and an eye on each
// (docs/decisions/0051-workers-and-threads.md).
// Thread rule: one thread.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/process/observers.h"
#include "runtime/process/watchdog.h"
#include "runtime/takeover/shelf.h"

namespace reseq::runtime {

class WorkerThread;

class WorkerThreads {
 public:
  // REQUIRES: all outlive it. `stuck_after`: a worker that is in one step for so long ends the process.
  WorkerThreads(const Application& application, const Clock& clock, Shelf& shelf, Observers& observers,
                Milliseconds stuck_after);
  ~WorkerThreads();  // REQUIRES: none was started, or stop() has come back

  Result<> start();
  [[nodiscard]] bool any_ended() const;
  // A while later. A thread that is stuck cannot be ended; the process can, at any moment.
  void look();
  // The first error. Ends when all have ended.
  Result<> stop();

 private:
  struct Watched {
    std::unique_ptr<WorkerThread> worker;
    Watchdog watchdog;
  };
  const Application& application_;
  const Clock& clock_;
  Shelf& shelf_;
  Observers& observers_;
  std::uint64_t looks_max_;
  std::vector<Watched> workers_;
};

}  // namespace reseq::runtime
