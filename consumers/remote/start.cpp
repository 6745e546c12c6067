#include "consumers/remote/start.h"

#include <string>

namespace reseq::remote {

Result<Offset> start_of(Partition partition, std::optional<Offset> position, const LogRange& log, bool skip_lost) {
  if (!position) return log.begin;
  const std::string read =
      "partition " + std::to_string(partition.value()) + " was read up to offset " + std::to_string(position->value());
  if (*position > log.end)
    return Error{
        ErrorClass::kInvalid, 0,
        read + ", but the topic ends at " + std::to_string(log.end.value()) +
            ": it was made anew. Load it into a new place, or delete the positions that belong to the old one"};
  if (*position >= log.begin) return *position;
  if (skip_lost) return log.begin;
  return Error{ErrorClass::kInvalid, 0,
               read + ", but the topic starts at " + std::to_string(log.begin.value()) +
                   ": releases are lost. --skip-lost goes on there; to be right again, load into a new place"};
}

}  // namespace reseq::remote
