// Samples: the records, rows and settings that the steps work on: those of script/bench (tests/bench/requests.h).
// Thread rule: plain values; one thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/arena.h"
#include "codec/command_decoder.h"
#include "engine/context.h"
#include "model/partition_state.h"
#include "model/row.h"
#include "store/partition_store.h"

namespace reseq::bench {

// `count` of the numbers 0 .. below-1, each at most once, in an order that is always the same.
[[nodiscard]] std::vector<std::uint64_t> drawn(std::uint64_t count, std::uint64_t below);

[[nodiscard]] TargetTable target_table();
[[nodiscard]] engine::Context context();
[[nodiscard]] PartitionState partition_state();
[[nodiscard]] Identity identity();

// A document as a request left it: two targets pending.
[[nodiscard]] Row row_of(std::uint64_t sequence);

// Consumed records that own their bytes.
class Inputs {
 public:
  // A request with this sequence for each of the documents, or its result for a target.
  void add_request(std::uint64_t document, std::uint64_t sequence);
  void add_result(std::uint64_t document, std::uint64_t sequence, std::string_view target);
  [[nodiscard]] std::vector<codec::InputRecord>& all() { return records_; }

 private:
  codec::InputRecord& add(Role role, std::uint64_t document);
  Arena arena_;
  std::deque<std::array<Header, 4>> headers_;
  std::vector<codec::InputRecord> records_;
};

// How they are decoded. REQUIRES: the table outlives it.
[[nodiscard]] codec::DecodeContext decoding(const TargetTable& targets);

// Rows as the changelog has them.
class Rows {
 public:
  void add(std::uint64_t document, std::uint64_t sequence);
  void add_identity();
  // One that fits a state of these counts and this digest.
  void add_meta(const Summary& summary);
  [[nodiscard]] const std::vector<store::Change>& all() const { return changes_; }

 private:
  Arena arena_;
  std::vector<store::Change> changes_;
};

}  // namespace reseq::bench
