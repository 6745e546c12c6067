#include "tests/bench/meter.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace reseq::bench {

namespace {

double ticks_per_second() {
  return static_cast<double>(::sysconf(_SC_CLK_TCK));
}

struct Stat {
  pid_t parent = 0;
  std::uint64_t children_ticks = 0;  // user and system time of those that have ended
};

// proc(5): the name in brackets may hold anything; parent is field 4, cutime and cstime are 16 and 17.
Stat stat_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  Stat stat;
  std::string skipped;
  fields >> skipped >> stat.parent;
  for (int field = 5; field < 16; ++field) fields >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  if (!(fields >> user >> system)) throw std::runtime_error("no process " + std::to_string(pid));
  stat.children_ticks = user + system;
  return stat;
}

std::vector<pid_t> processes_of_this_machine() {
  std::vector<pid_t> pids;
  for (const auto& one : std::filesystem::directory_iterator("/proc"))
    if (const pid_t pid = std::atoi(one.path().filename().c_str()); pid > 0) pids.push_back(pid);
  return pids;
}

unsigned port_of(const std::string& address) {
  const std::size_t scheme = address.find("://");
  const std::size_t colon = address.find(':', scheme == std::string::npos ? 0 : scheme + 3);
  return static_cast<unsigned>(std::atoi(address.substr(std::min(address.size(), colon + 1)).c_str()));
}

// /proc/net/tcp: "sl: ADDRESS:PORT REMOTE STATE .. .. .. UID TIMEOUT INODE", numbers in hex, 0A = it listens.
std::string listening_inode(unsigned port) {
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    for (std::string line; std::getline(file, line);) {
      std::istringstream fields(line);
      std::vector<std::string> words(std::istream_iterator<std::string>(fields), {});
      if (words.size() < 10 || words[3] != "0A") continue;
      if (std::stoul(words[1].substr(words[1].rfind(':') + 1), nullptr, 16) == port) return words[9];
    }
  }
  throw std::runtime_error("nobody listens at port " + std::to_string(port));
}

}  // namespace

double cpu_seconds(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0)
    throw std::runtime_error("no CPU time of process " + std::to_string(pid));
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

double family_cpu_seconds(pid_t pid) {
  double seconds = cpu_seconds(pid) + static_cast<double>(stat_of(pid).children_ticks) / ticks_per_second();
  for (const pid_t other : processes_of_this_machine()) try {
      if (stat_of(other).parent == pid) seconds += cpu_seconds(other);
    } catch (const std::runtime_error&) {  // it has ended: it counts among those that did
    }
  return seconds;
}

pid_t listener(const std::string& address) {
  const std::string socket = "socket:[" + listening_inode(port_of(address)) + "]";
  std::error_code gone;
  for (const pid_t pid : processes_of_this_machine())
    for (const auto& file : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone))
      if (std::filesystem::read_symlink(file.path(), gone) == socket) return pid;
  throw std::runtime_error("nobody of this machine listens at " + address);
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
  return (user + nice + system + interrupts + soft_interrupts) / ticks_per_second();
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
