// Scenario: what is fixed for the life of a simulated world: its size, the settings of the application, the manners of
// the brokers and how often what goes wrong. Drawn from the seed; guards are no part of it.
// Thread rule: plain values.
#pragma once

#include "config/settings.h"
#include "tests/simulation/kafka/broker.h"

namespace reseq::simulation {

// Weights of what the scheduler does beside stepping workers and letting the brokers work; of a thousand ticks.
struct Weights {
  std::uint32_t request = 0;
  std::uint32_t kill = 0;
  std::uint32_t stop = 0;  // cleanly
  std::uint32_t pause = 0;
  std::uint32_t power_loss = 0;
  std::uint32_t lose_copy = 0;
  std::uint32_t damage_copy = 0;
  std::uint32_t clock_step = 0;
  std::uint32_t compact = 0;
  std::uint32_t forget_offsets = 0;
  std::uint32_t retention = 0;
  std::uint32_t nap = 0;  // time passes, and only heartbeats happen
};

inline constexpr std::size_t kLargePayload = 1'600;     // too large for an output, and for a dead letter
inline constexpr std::size_t kPayloadOfPieces = 5'000;  // and more than a row takes, when it is held

// What the worlds of a run have in common.
enum class Profile : std::uint8_t {
  kPlain,
  kGated,         // a gate of the tests holds some of the requests
  kJournal,       // requests wait for their turn, and work that is lost comes back
  kLanes,         // some targets get every version
  kLanesJournal,  // both: these wait for their turn, too, and what fails of them is tried again
};

struct Scenario {
  std::int32_t partitions = 1;
  std::size_t processes = 2;
  std::size_t workers = 1;  // per process
  bool static_members = true;
  std::size_t documents = 3;
  std::size_t ticks = 1000;
  bool tap = false;
  bool journal = false;  // what was dispatched is known, and may fail
  bool lanes = false;    // some targets are strict or total
  bool outages = false;  // a target cannot be reached now and then
  bool epochs = false;   // producers may raise epochs
  bool clocks_differ = false;
  std::int64_t answer_ms_max = 500;  // what the pipeline takes for a result
  std::int64_t late_answer_ms_max = 5'000;
  config::Settings settings;  // of the application; instance.id is set per process
  std::int64_t delete_retention_ms = 60'000;
  std::int64_t requests_retention_ms = 0;
  std::size_t large_payload = kLargePayload;
  bool compacts = false;  // copies are written anew as soon as anything of their files is free
  BrokerSettings broker;
  FaultRates faults;
  Weights weights;

  // Work that is lost comes back, and requests say when they are to be dispatched.
  [[nodiscard]] bool leases() const { return journal && settings.dispatch_mode == "journal"; }
  [[nodiscard]] bool explicit_deletes() const { return settings.deletes == "explicit"; }
};

[[nodiscard]] Scenario draw_scenario(Draw& draw);
// The same with so many partitions, of which a few have documents.
// Its large payloads take several rows when they are held, and its copies are written anew.
[[nodiscard]] Scenario of_pieces(Scenario world);
// The same in front of a gate; some skip what is unchanged.
[[nodiscard]] Scenario of_gate(Scenario world, Draw& draw);
// The same with dispatch.mode = "journal", whose settings `draw` gives, or with nothing but failures. It is large like
// of_pieces().
[[nodiscard]] Scenario of_journal(Scenario world, Draw& draw);
// The same with targets that get every version. It is large like of_pieces().
[[nodiscard]] Scenario of_lanes(Scenario world, Draw& draw);
// The same of a world of_journal(). Requests of a total target do not wait.
[[nodiscard]] Scenario of_lanes_in_journal(Scenario world, Draw& draw);
[[nodiscard]] Scenario of_many_partitions(Scenario world, std::int32_t partitions);

}  // namespace reseq::simulation
