// Footprint: what a process takes of its host, from /proc: it must stay below a bound, whatever is done to it.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace reseq::chaos {

struct Footprint {
  std::uint64_t memory_bytes = 0;  // resident
  std::uint64_t descriptors = 0;
  std::uint64_t disk_bytes = 0;  // blocks below its folder

  void raise_to(const Footprint& other);
};

// Of a process that runs and its folder; zeros for what cannot be read (it has just ended).
[[nodiscard]] Footprint footprint_of(pid_t pid, const std::string& folder);

// 1 GiB: fetch queues (64 MiB), a batch (64 MiB) with its rows and outputs, memory tables (12 MiB per partition) and
// what librdkafka keeps until it is acknowledged, for the few partitions of a chaos run.
// 320 descriptors: five files per partition, and up to nine clients, one of them for a moment, each with a socket and
// the two ends of a pipe for every broker and every name in bootstrap.servers (262 were met with three brokers).
// 1 GiB of disk: a few hundred thousand rows take less than 200 MiB; a checkpoint needs room for new pages beside the
// old ones.
inline constexpr Footprint kFootprintMax{
    .memory_bytes = std::uint64_t{1} << 30, .descriptors = 320, .disk_bytes = std::uint64_t{1} << 30};

}  // namespace reseq::chaos
