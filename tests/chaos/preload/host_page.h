// HostPage: what a process under test is made to believe of its host, in a small file that the nemesis and the process
// have both mapped: its wall clock and its disk.
// Thread rule: any thread of any process.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace reseq::chaos {

struct HostPage {
  std::atomic<std::int64_t> clock_shift_s;   // added to what std::chrono::system_clock says
  std::atomic<std::int32_t> disk_error;      // errno of every write and sync below `folder`; 0 = the disk works
  std::atomic<std::uint64_t> disk_refusals;  // writes and syncs that were refused
  std::atomic<std::int64_t> disk_page_us;    // time that the disk takes for each page that is written below `folder`
  std::array<char, 1024> folder;             // absolute, zero-terminated
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "it is shared between processes");

// Names the file of the page.
inline constexpr const char* kHostPageVariable = "RESEQ_CHAOS_HOST";

}  // namespace reseq::chaos
