// Fleet: the processes of one application, and what their logs say of its partitions: who has which, how each came to
// its state, how many checkpoints were written. A process that is killed may take its last lines with it, so counts are
// counts from below.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/resequencer_run.h"
#include "tests/support/process.h"

namespace reseq::test {

// Value of `name` in a log line of key=value; none when the line lacks it.
[[nodiscard]] std::optional<std::string> field(std::string_view line, std::string_view name);

// A partition became ready, or was born.
struct Takeover {
  int instance = 0;
  int partition = 0;
  bool born = false;
  std::string recovery;  // reuse, rebuild
  std::string reason;
  std::uint64_t generation = 0;
  std::uint64_t records_read = 0;
  std::int64_t duration_ms = 0;
  int before = -1;  // instance that had it last; -1 = none
  int start = 0;    // of this instance, from 1
};

class Fleet {
 public:
  // Starts instances 1 .. instances. REQUIRES: `run` outlives the fleet.
  Fleet(ResequencerRun& run, int instances);

  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] Process& process(int instance) { return *member(instance).process; }
  void start(int instance);
  // SIGKILL, and waits for the end.
  void kill(int instance);
  // SIGTERM, and waits for the end: its exit code.
  int stop(int instance);

  // Reads what the logs say since the last look.
  void look();

  // Who reads the partition; none while nobody does.
  [[nodiscard]] std::optional<int> owner(int partition) const;
  // Every partition has an owner, and every instance has a partition.
  [[nodiscard]] bool settled(int partitions) const;
  [[nodiscard]] std::vector<int> partitions_of(int instance) const;
  [[nodiscard]] const std::vector<Takeover>& takeovers() const { return takeovers_; }
  [[nodiscard]] std::uint64_t checkpoints(int partition) const;
  // Lines with level=error or with `parked`: nothing of that kind is expected.
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
  // Logged endings of transactions that did not commit, by name: fenced, aborted, unknown.
  [[nodiscard]] const std::map<std::string, int>& transactions_ended() const { return transactions_ended_; }

 private:
  struct Member {
    std::unique_ptr<Process> process;
    int starts = 0;
    std::uint64_t read = 0;  // bytes of the log
    std::string time = {};   // of the last line that had one
  };
  [[nodiscard]] Member& member(int instance) { return members_.at(static_cast<std::size_t>(instance - 1)); }
  void forget_owner(int instance);
  void read_line(int instance, const std::string& line);
  void read_takeover(int instance, const std::string& line, int partition);

  ResequencerRun& run_;
  std::vector<Member> members_;
  std::map<int, int> owner_;
  std::map<int, int> last_owner_;
  std::vector<Takeover> takeovers_;
  std::map<int, std::uint64_t> checkpoints_;
  std::vector<std::string> complaints_;
  std::map<std::string, int> transactions_ended_;
};

}  // namespace reseq::test
