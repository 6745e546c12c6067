#include "tests/bench/meter.h"

#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace reseq::bench {

double cpu_seconds(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0)
    throw std::runtime_error("no CPU time of process " + std::to_string(pid));
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

double machine_cpu_seconds() {
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0;
  double nice = 0;
  double system = 0;
  double idle = 0;
  double waiting = 0;
  double interrupts = 0;
  double soft_interrupts = 0;
  if (!(stat >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts) || name != "cpu")
    throw std::runtime_error("no CPU time of this machine in /proc/stat");
  return (user + nice + system + interrupts + soft_interrupts) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

Memory memory_of(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  Memory memory;
  const double megabytes_per_kibibyte = 1024 / 1e6;
  for (std::string name; status >> name;) {
    double kibibytes = 0;
    if (name == "VmRSS:" && status >> kibibytes) memory.resident_mb = kibibytes * megabytes_per_kibibyte;
    if (name == "RssAnon:" && status >> kibibytes) memory.anonymous_mb = kibibytes * megabytes_per_kibibyte;
  }
  if (memory.resident_mb == 0) throw std::runtime_error("no memory of process " + std::to_string(pid));
  return memory;
}

}  // namespace reseq::bench
