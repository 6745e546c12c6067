// Fleet: the processes of a run. One of them that ends early fails the run with the end of its log; leaving the scope
// ends them all, last started first.
// Thread rule: one thread.
#pragma once

#include <csignal>
#include <list>
#include <string>
#include <vector>

#include "base/result.h"
#include "demo/process/child_process.h"

namespace reseq::demo {

class Fleet {
 public:
  // `stop` is set by a signal handler: then every wait ends with an error.
  explicit Fleet(const volatile std::sig_atomic_t& stop) : stop_(stop) {}
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  ~Fleet() { stop_all(); }

  // A process that runs until it is stopped.
  Result<> start(const Launch& launch);
  // A process that ends by itself. REQUIRES: it stays in the fleet, so the pointer lives as long.
  Result<ChildProcess*> start_job(const Launch& launch);
  // A signal to the process of this name, if it runs.
  void tell(const std::string& name, int signal);
  // Kills the process of this name, as a machine that dies would, and forgets it.
  void kill(const std::string& name);
  // Runs a process to its end.
  Result<> run(const Launch& launch);

  // An error when somebody ended who should not have, or when a signal asked to stop.
  Result<> check();

  // Asks all to stop, waits, kills what is left. Returns the names of those that had to be killed.
  std::vector<std::string> stop_all();

 private:
  struct Member {
    ChildProcess process;
    bool may_end = false;
  };
  Result<ChildProcess*> add(const Launch& launch, bool may_end);

  const volatile std::sig_atomic_t& stop_;
  std::list<Member> members_;
};

// Why a process failed, with the end of its log.
[[nodiscard]] Error failure_of(const ChildProcess& process, const Ending& ending);

}  // namespace reseq::demo
