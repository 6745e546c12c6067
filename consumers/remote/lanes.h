// Lanes: loads on their way from the reader to the writers and back. Each partition is a lane; at most `at_once` of its
// loads are being written, in the order in which they came; with 1 they are written one after the other.
// Invariants: a load that was dropped is never taken; every load that was taken comes back once.
// Thread rule: any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "consumers/remote/load.h"

namespace reseq::remote {

enum class Outcome : unsigned char {
  kWritten,  // all of it is at the server, or a dead letter
  kDropped,
  kFenced,  // the store has another position
  kFatal,
};

struct Finished {
  std::shared_ptr<Load> load;
  Outcome outcome = Outcome::kWritten;
  Error error{};  // kFenced, kFatal
};

class Lanes {
 public:
  explicit Lanes(std::size_t at_once) : at_once_(at_once) {}

  // The reader.
  void put(std::shared_ptr<Load> load);
  // What came back since the last call; waits up to the limit for the first.
  std::vector<Finished> finished(std::chrono::milliseconds limit);
  // Loads that wait are forgotten, those that are being written are marked; writers that rest wake up.
  void drop_all();
  // Waits until nothing is being written, up to the limit. False: something still is.
  bool settle(std::chrono::milliseconds limit);
  // take() answers nothing from now on.
  void stop();

  // A writer.
  // The next load; null when it is over.
  std::shared_ptr<Load> take();
  // Waits for that time. False: it is over.
  bool pause(std::chrono::milliseconds time);
  // Waits before the next try. False: the load was dropped, or it is over.
  bool rest(const Load& load, std::chrono::milliseconds time);
  void give_back(Finished finished);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // waiting or being written
  [[nodiscard]] std::size_t running() const;
  [[nodiscard]] std::size_t waiting() const;
  // When the oldest load that is not done was opened; nothing: there is none.
  [[nodiscard]] std::optional<Clock::time_point> oldest() const;

 private:
  std::shared_ptr<Load> take_next();

  const std::size_t at_once_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::shared_ptr<Load>> waiting_;
  std::vector<std::shared_ptr<Load>> running_;
  std::map<Partition, std::size_t> running_of_;
  std::vector<Finished> finished_;
  std::atomic<bool> some_finished_ = false;
  std::atomic<std::uint64_t> bytes_ = 0;
  bool stopped_ = false;
};

}  // namespace reseq::remote
