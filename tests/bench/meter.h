// What a running process has used: CPU time of all its threads, and memory.
// Thread rule: plain functions.
#pragma once

#include <string>
#include <sys/types.h>

namespace reseq::bench {

// Seconds of user and system time since it started, as getrusage() counts them. Throws when the process is gone.
[[nodiscard]] double cpu_seconds(pid_t pid);

// The same of a server that has a process for each session: its children, those that have ended, too.
[[nodiscard]] double family_cpu_seconds(pid_t pid);
// Who listens at that port of this machine ("HOST:PORT", "scheme://HOST:PORT/.."). Throws when nobody does.
[[nodiscard]] pid_t listener(const std::string& address);

// The same of all processes of this machine since it was started, the broker's among them, and of the kernel for them.
// Throws when /proc/stat cannot be read.
[[nodiscard]] double machine_cpu_seconds();

struct Memory {
  double resident_mb = 0;   // VmRSS, with the pages of mapped files
  double anonymous_mb = 0;  // RssAnon: heap and stacks, what nobody else can have back

  Memory& operator+=(const Memory& other) {
    resident_mb += other.resident_mb;
    anonymous_mb += other.anonymous_mb;
    return *this;
  }
};
// Of /proc/PID/status, in 10^6 bytes. Throws when the process is gone.
[[nodiscard]] Memory memory_of(pid_t pid);

}  // namespace reseq::bench
