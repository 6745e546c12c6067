#include "tests/simulation/world/seeds.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <malloc.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/assert.h"
#include "tests/simulation/world/world.h"

namespace reseq::simulation {

namespace {

constexpr std::size_t kJobsMax = 64;

// Memory that parent and children share: it survives whoever dies.
struct Board {
  std::array<std::atomic<std::uint64_t>, kJobsMax> playing;
  std::atomic<bool> failed;
};

class SharedBoard {
 public:
  SharedBoard() {
    void* place = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    RESEQ_ASSERT(place != MAP_FAILED, "no memory to share with children");
    board_ = new (place) Board{};
  }
  ~SharedBoard() { ::munmap(board_, sizeof(Board)); }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  Board* operator->() const { return board_; }

 private:
  Board* board_ = nullptr;
};

// One folder of a run, in memory where that can be. Its name is new: a number of a process comes again, and a run that
// was killed leaves its folder behind.
class Disks {
 public:
  Disks() {
    std::error_code none;
    const std::filesystem::path fast = "/dev/shm";
    const auto base = std::filesystem::is_directory(fast, none) && ::access(fast.c_str(), W_OK) == 0
                          ? fast
                          : std::filesystem::temp_directory_path();
    folder_ = (base / "reseq-simulation-XXXXXX").string();
    RESEQ_ASSERT(::mkdtemp(folder_.data()) != nullptr, "no folder for the disks of simulated processes");
  }
  ~Disks() { std::filesystem::remove_all(folder_); }
  Disks(const Disks&) = delete;
  Disks& operator=(const Disks&) = delete;
  [[nodiscard]] std::string of(std::size_t job) const { return folder_ + "/" + std::to_string(job); }

 private:
  std::string folder_;
};

void note(Findings& result, Failure failure) {
  ++result.failures;
  if (!result.first || failure.seed < result.first->seed) result.first = std::move(failure);
}

// LMDB asks for two megabytes of zeros whenever it opens a copy, and touches little of them. Fresh pages of the kernel
// are zeros. The allocator takes others once something as large was freed, and writes all of them: a third of the time.
void take_zeros_from_the_kernel() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

Findings play_some(const Run& run, std::size_t job, const std::string& root, const SharedBoard& board) {
  take_zeros_from_the_kernel();
  Findings result;
  for (std::uint64_t seed = run.from + job; seed < run.from + run.seeds; seed += run.jobs) {
    if (run.until_first && board->failed) break;
    board->playing[job] = seed;
    RESEQ_ASSERT(std::filesystem::create_directory(root), "a world begins with the disks of another");
    std::string wrong;
    {
      World world(seed, run.guards, root, run.partitions, run.profile);
      wrong = world.play();
      result.hashes.emplace(seed, world.hash());
      add(result.counters, world.counters());
    }
    std::filesystem::remove_all(root);
    if (wrong.empty()) continue;
    board->failed = true;
    if (run.tell_each) std::cerr << "seed " << seed << ": " << wrong << '\n';
    note(result, {seed, wrong});
  }
  return result;
}

// One line each, and an empty one behind each list; only the first failure is told.
void send(const Findings& result, int pipe) {
  std::ostringstream text;
  text << result.failures << '\n';
  for (const auto& [seed, hash] : result.hashes) text << seed << ' ' << hash << '\n';
  text << '\n';
  for (const auto& [name, count] : result.counters) text << count << ' ' << name << '\n';
  if (result.first) text << '\n' << result.first->seed << '\n' << result.first->what;
  const std::string bytes = text.str();
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t wrote = ::write(pipe, bytes.data() + sent, bytes.size() - sent);
    if (wrote <= 0) ::_exit(EXIT_FAILURE);
    sent += static_cast<std::size_t>(wrote);
  }
}

std::string receive(int pipe) {
  std::string bytes;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = ::read(pipe, part.data(), part.size())) > 0;)
    bytes.append(part.data(), static_cast<std::size_t>(got));
  ::close(pipe);
  return bytes;
}

void take(const std::string& bytes, Findings& sum) {
  std::istringstream text(bytes);
  std::uint64_t failures = 0;
  text >> failures;
  sum.failures += failures;
  text.ignore();
  for (std::string line; std::getline(text, line) && !line.empty();) {
    const std::size_t space = line.find(' ');
    sum.hashes.emplace(std::stoull(line.substr(0, space)), std::stoull(line.substr(space + 1)));
  }
  for (std::string line; std::getline(text, line) && !line.empty();) {
    const std::size_t space = line.find(' ');
    sum.counters[line.substr(space + 1)] += std::stoull(line.substr(0, space));
  }
  Failure failure;
  if (!(text >> failure.seed)) return;
  text.ignore();
  std::getline(text, failure.what, '\0');
  if (!sum.first || failure.seed < sum.first->seed) sum.first = std::move(failure);
}

struct Child {
  pid_t id = 0;
  int pipe = -1;
};

Child start(const Run& run, std::size_t job, const std::string& root, const SharedBoard& board) {
  std::array<int, 2> ends{};
  RESEQ_ASSERT(::pipe(ends.data()) == 0, "no pipe");
  std::cout.flush();
  const pid_t id = ::fork();
  RESEQ_ASSERT(id >= 0, "no process");
  if (id == 0) {
    ::close(ends[0]);
    send(play_some(run, job, root, board), ends[1]);
    ::_exit(EXIT_SUCCESS);
  }
  ::close(ends[1]);
  return {id, ends[0]};
}

}  // namespace

Findings play(const Run& run) {
  RESEQ_ASSERT(run.jobs > 0 && run.jobs <= kJobsMax, "a number of processes that cannot be");
  const SharedBoard board;
  const Disks disks;
  std::vector<Child> children;
  for (std::size_t job = 0; job < run.jobs; ++job) children.push_back(start(run, job, disks.of(job), board));
  Findings sum;
  for (std::size_t job = 0; job < run.jobs; ++job) {
    const std::string said = receive(children[job].pipe);
    int status = 0;
    ::waitpid(children[job].id, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) {
      take(said, sum);
      continue;
    }
    board->failed = true;
    note(sum, {board->playing[job], "its process died, see above"});
  }
  return sum;
}

std::size_t jobs() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kJobsMax);
}

}  // namespace reseq::simulation
