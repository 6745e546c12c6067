// Crew: the processes of a chaos run: resequencers, pipelines, and guests that come and go. It keeps them running,
// reads their logs, and complains of what no fault explains: an end that nobody ordered, an error, an assertion, a
// report of a sanitizer, a parked partition, a footprint above its bound.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/chaos/nemesis/chronicle.h"
#include "tests/chaos/nemesis/footprint.h"
#include "tests/chaos/nemesis/host.h"
#include "tests/chaos/nemesis/supervised.h"

namespace reseq::chaos {

// In a complaint about an error that librdkafka tells. What our program makes of it is judged everywhere else.
inline constexpr const char* kLibraryError = " level=error librdkafka=";

// What a member of the group sees when another one is gone before it has shared the partitions out: SyncGroup is
// answered to nobody, until librdkafka waits no longer (session time-out and 3 s).
inline const Words kLeaderLost = {kLibraryError, "GroupCoordinator: ", " request(s) timed out: "};

// The exit code of a program that is refused what it was configured with: EX_CONFIG.
inline constexpr int kConfigurationExit = 78;

enum class Job : unsigned char { kResequencer, kPipeline, kGuest };

struct Member {
  Job job = Job::kResequencer;
  std::unique_ptr<Host> host;  // none: it lives on the real one
  std::string folder;          // of its state; empty = it has none
  std::unique_ptr<Supervised> process = {};
  std::uint64_t log_read = 0;
  std::map<int, std::string> parked = {};          // partition and reason, since its last start
  std::set<int> exchanged = {};                    // partitions whose copy here is a wrong one, until it is opened
  std::set<int> damaged = {};                      // partitions whose copy may be wrong unseen, until it is rebuilt
  std::set<int> died_of = {};                      // partitions whose damaged copy ended it, until it is rebuilt
  std::optional<Clock::time_point> ready_at = {};  // it said so since its last start; a pipeline does not
  bool disk_failed = false;                        // it said so since its last start
  std::uint64_t ends = 0;
  End last_end = {};
  std::map<int, int> ends_with = {};  // by code
  std::uint64_t takeovers = 0;        // that came to their end
  std::uint64_t clock_waits = 0;      // lines that say that a takeover waits for its clock
};

struct CrewCounts {
  std::uint64_t kills = 0;                                 // SIGKILL, by us and at failpoints
  std::uint64_t rebalances = 0;                            // assignments that the members were given
  std::map<std::string, std::uint64_t> recoveries = {};    // reuse, rebuild/REASON
  std::map<std::string, std::uint64_t> transactions = {};  // endings that are no commit, by name
  Footprint largest = {};
};

class Crew {
 public:
  // REQUIRES: the chronicle outlives it.
  explicit Crew(Chronicle& chronicle) : chronicle_(chronicle) {}

  // It starts with the next step(). The environment of `host` is added. The reference stays good.
  Member& add(Job job, ProgramToRun program, std::unique_ptr<Host> host, std::string folder);
  // Starts what has ended, reads logs, looks at footprints.
  void step();
  // Takes in what a member has logged since that was done last.
  void read_log(Member& member);

  [[nodiscard]] std::vector<Member*> all(Job job) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Member>>& members() const { return members_; }
  // What is parked now, one line each.
  [[nodiscard]] std::vector<std::string> parked() const;
  [[nodiscard]] const CrewCounts& counts() const { return counts_; }
  // Partitions that have had an owner: they were born.
  [[nodiscard]] const std::set<int>& owned() const { return owned_; }

 private:
  static bool died_of_damage(Member& member, const End& end);
  void judge_end(Member& member, const End& end);
  void read_line(Member& member, const std::string& line);
  void weigh();

  Chronicle& chronicle_;
  std::vector<std::unique_ptr<Member>> members_;
  CrewCounts counts_;
  std::set<int> owned_;
  Clock::time_point read_at_{};
  Clock::time_point weighed_at_{};
};

}  // namespace reseq::chaos
