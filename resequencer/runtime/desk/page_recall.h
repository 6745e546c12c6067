// What the memory of the page has from before this process: who answered within its span, read back from the topic of
// replies. An instance that died for good has written there when it lived; nobody else says that it did.
// Bounded in bytes and in time, the newest first.
// Thread rule: one thread; it opens clients of its own and closes them.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "runtime/application/application.h"
#include "runtime/desk/page_memory.h"

namespace reseq::runtime {

// Of the whole topic; each partition has the same share.
struct RecallBounds {
  // Payloads. So many are the quarter of an hour of 500 partitions that nobody looks at, or 65 that somebody does.
  std::uint64_t bytes = std::uint64_t{32} * 1024 * 1024;
  // On top of the time in which brokers say where it begins and ends.
  Milliseconds time{3'000};
};

// Each instance is heard at the time of the record in which it answered last, but never later than `now`. Whatever else
// is in the topic is passed over. False: `stop`, or it is more than the bounds, and older replies were not read.
// kInvalid: there is no such topic, or it may not be read.
[[nodiscard]] Result<bool> recall_instances(const Application& application, UnixMs now, const std::atomic<bool>& stop,
                                            PageMemory& memory, const RecallBounds& bounds = {});

}  // namespace reseq::runtime
