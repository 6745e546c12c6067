// History: all that went into the engine and all that came out of it, in the order it happened. It is all the oracle
// sees.
// Thread rule: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/batch.h"
#include "model/effects.h"
#include "tests/gate/keyed_rows.h"

namespace reseq::property {

inline constexpr std::size_t kDocuments = 5;
inline constexpr std::size_t kCollider = 4;  // the document whose hash belongs to another id
inline constexpr std::array<std::string_view, kDocuments> kIds = {"alpha", "beta", "gamma", "delta", "collider"};
inline constexpr std::size_t kTargets = 4;

// REQUIRES: id is one of kIds.
[[nodiscard]] std::size_t document_of(std::string_view id);
[[nodiscard]] std::string_view id_of(const Command& command);

enum class Log : std::uint8_t { kRequests, kCommands };

// A record of an input topic.
struct Input {
  Command command;
  Log log = Log::kRequests;
  Offset position;
};

// A record with what became of it.
struct Entry {
  Input input;
  bool requests_read = false;
  Decision decision;
  std::uint32_t produced = 0;  // emissions, without events
  std::optional<Forward> forward;
  std::optional<Release> release;
  std::optional<DeadLetter> dead_letter;
  bool redirected = false;
  bool held = false;  // by the gate: the forward leaves later
  std::uint32_t events = 0;
};

// The state: documents, and what a gate holds.
struct Rows {
  std::array<std::optional<Row>, kDocuments> documents;
  gate::KeyedRows others;

  [[nodiscard]] std::optional<Row>& operator[](std::size_t document) { return documents[document]; }
  [[nodiscard]] const std::optional<Row>& operator[](std::size_t document) const { return documents[document]; }
  friend bool operator==(const Rows&, const Rows&) = default;
};

// A request that was held, with what became of it when its time had come; none: nobody waited for it any more.
struct LetThrough {
  Offset position;  // of the request
  std::uint64_t bytes = 0;
  bool reference = false;
  std::optional<Forward> forward;
  std::optional<DeadLetter> dead_letter;  // its record is gone,
  std::uint64_t gone = 0;                 // which had so many bytes
  std::uint32_t produced = 0;             // emissions, without events
  std::uint32_t events = 0;
};

// One transaction: which inputs, at what time, with which state before and after.
struct BatchRecord {
  UnixMs now;
  engine::OnMissing on_missing = engine::OnMissing::kDeadLetter;
  PartitionState before;
  PartitionState after;
  std::vector<Entry> entries;
  std::vector<std::size_t> timers;                         // documents whose timer fired, in that order
  std::vector<std::pair<std::size_t, TargetSet>> overdue;  // documents reported overdue, and of them what targets
  std::vector<AgendaDone> agenda;                          // of the gate
  std::vector<LetThrough> let_through;                     // by it, in that order
  std::size_t generated = 0;                               // records that it made
};

// A piece of work whose result the pipeline will never send.
struct LostWork {
  std::size_t document = 0;
  Order order;
  TargetNumber target;
};

[[nodiscard]] std::string describe(const Order& order);
[[nodiscard]] std::string describe(TargetSet targets);
[[nodiscard]] std::string describe(const Entry& entry);
[[nodiscard]] std::string describe(const BatchRecord& batch);

}  // namespace reseq::property
