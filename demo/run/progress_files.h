// What the processes of a run say about themselves: the last line of their progress files, which are lines of JSON.
// Thread rule: any thread; each call reads the file anew.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.h"

namespace reseq::demo {

struct SourceProgress {
  std::uint64_t sent = 0;
  std::uint64_t skipped = 0;
  std::uint64_t total = 0;  // 0 = not known yet
};

struct SinkProgress {
  std::uint64_t records = 0;
  std::uint64_t rejected = 0;
  std::map<Partition, Offset> positions;  // committed
};

struct PipelineProgress {
  std::vector<std::uint64_t> records;     // of each worker
  std::vector<std::uint64_t> partitions;  // of `work` that each worker owns
  std::uint64_t results = 0;              // sent, duplicates included

  [[nodiscard]] bool every_worker_has_partitions() const;
};

// Empty while the process has not written a whole line.
[[nodiscard]] std::optional<SourceProgress> source_progress(const std::string& file);
[[nodiscard]] std::optional<SinkProgress> sink_progress(const std::string& file);
[[nodiscard]] std::optional<PipelineProgress> pipeline_progress(const std::string& file);

}  // namespace reseq::demo
