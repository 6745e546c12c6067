// Site: where a run lives: its folder, the application's name and brokers, and how each process of it is started.
//   DIR/log      what the processes print
//   DIR/config   one configuration for each process
//   DIR/state    copies of the state, as the configuration says
//   DIR/host     pages that preloaded processes map
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/chaos/nemesis/host.h"
#include "tests/chaos/nemesis/supervised.h"

namespace reseq::chaos {

struct SiteSettings {
  std::string folder;  // absolute, empty
  std::string application_id;
  std::string bootstrap_servers;
  int brokers = 1;
  int partitions = 4;
  std::string targets_toml;  // tables, at the end of each configuration
  std::string program = "resequencer-faulty";
  bool journal = false;
  bool orders = false;
};

// So few under way that requests wait, and leases so short that a process of the pipeline that dies costs seconds.
// Bodies of what waits take some room, the rest is held by its place in `requests`. So many time-outs that nothing is
// stuck for ten minutes while the pipeline is away.
inline constexpr const char* kJournalToml =
    "[dispatch]\nmode = \"journal\"\nin_flight_max = 40\nlease_ms = 4000\ntimeouts_max = 8\n"
    "[failures]\nmode = \"retry\"\nbackoff_ms = 200\non_failure = \"marker\"\n";
// Every document that says no targets has a strict one, and without a journal a total one besides. What is lost is
// waited for a little longer than the pipeline takes at most when nothing holds it up: under faults some results come
// behind that.
inline constexpr const char* kOrdersToml = "[orders]\ngap_timeout_ms = 15000\non_gap = \"marker\"\n";
inline constexpr const char* kStrictTargetToml = "[[target]]\nname = \"history\"\norder = \"strict\"\n";
inline constexpr const char* kTotalTargetToml = "[[target]]\nname = \"audit\"\norder = \"total\"\n";
inline constexpr std::int64_t kHeldBytesMax = 4 << 20;

// Times as short as brokers and clients allow, so that losing a process costs seconds.
inline constexpr std::chrono::milliseconds kSessionTimeout{6'000};
// Longer than a session: who is paused for longer than the one and shorter than the other must abort.
inline constexpr std::chrono::milliseconds kTransactionTimeout{10'000};
// How often the brokers look for transactions that are overdue, and how long after their start for the first time. It
// must be longer than a broker takes to lead its partitions again: Kafka 4.3.1 takes a partition without a leader for
// deleted, skips the marker that ends an overdue transaction in it, and calls the transaction ended. It hangs then, or
// the next commit of the same producer commits it (docs/testing.md, "Chaos").
inline constexpr std::chrono::milliseconds kSweepEvery{15'000};
// A forward step of a clock up to this is believed; the others may be as far behind.
inline constexpr std::chrono::seconds kClockJumpMax{60};
inline constexpr std::chrono::seconds kClockDriftMax{120};
inline constexpr std::chrono::seconds kRegistrationTimeout{15};

class Site {
 public:
  explicit Site(SiteSettings settings);

  [[nodiscard]] const SiteSettings& settings() const { return settings_; }
  // Of an instance; `state` is a folder below the site's: another one for a second process of the same name.
  [[nodiscard]] std::string config_file(const std::string& instance, const std::string& state = "state") const;
  [[nodiscard]] std::string instance_folder(const std::string& instance, const std::string& state = "state") const;
  [[nodiscard]] std::string log_file(const std::string& name) const;

  // `name` = instance, unless there are two of them.
  [[nodiscard]] ProgramToRun resequencer(const std::string& instance, const std::string& name,
                                         const std::string& state = "state") const;
  // A host of its own, whose disk breaks below the instance's folder.
  [[nodiscard]] std::unique_ptr<Host> host(const std::string& instance) const;
  [[nodiscard]] std::string transactional_ids(const std::string& instance) const;  // pattern
  [[nodiscard]] std::string client_id(const std::string& instance) const;

 private:
  SiteSettings settings_;
};

}  // namespace reseq::chaos
