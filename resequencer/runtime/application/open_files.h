// Open files: how many this process may hold, and whether that is enough for the partitions it may get.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace reseq::runtime {

// Of each partition: its copy, opened twice by LMDB, LMDB's lock file, our lock file and their folder.
inline constexpr std::uint64_t kFilesOfPartition = 5;
// Of each worker: the queues of its clients, and their connections to a cluster of a dozen brokers.
inline constexpr std::uint64_t kFilesOfWorker = 150;
// What remains: other clients, HTTP, logs.
inline constexpr std::uint64_t kFilesBesides = 150;

// As many as the system allows, which is the hard limit. How many may be open from now on.
[[nodiscard]] std::uint64_t raise_open_files();

// Nothing: `limit` open files carry all partitions, which one process gets when the others are gone. Otherwise what it
// carries, with the fix.
[[nodiscard]] std::optional<std::string> too_few_open_files(std::uint64_t limit, std::int32_t partitions,
                                                            std::int64_t workers);

}  // namespace reseq::runtime
