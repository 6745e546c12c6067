// Writer: writes one load after the other to the server until each is done: what is refused becomes a dead letter, what
// has to go again goes again, for ever, and only that.
// Invariant: a load is done when every write was answered, its letters are acknowledged and, if the store keeps
// positions, its position has moved.
// Thread rule: run() is the whole life of a thread; everything else belongs to others.
#pragma once

#include <chrono>
#include <random>
#include <vector>

#include "consumers/remote/back_off.h"
#include "consumers/remote/dead_letters.h"
#include "consumers/remote/lanes.h"
#include "consumers/remote/remote_store.h"
#include "consumers/remote/tally.h"

namespace reseq::remote {

// When the reader was last seen at work. A writer does not write behind its back: the process may have been stopped for
// so long that the partitions belong to others, which the reader finds out first.
class Pulse {
 public:
  explicit Pulse(std::chrono::milliseconds longest) : longest_(longest) { beat(Clock::now()); }
  void beat(Clock::time_point now) { last_ = now.time_since_epoch().count(); }
  [[nodiscard]] Clock::time_point last() const { return Clock::time_point(Clock::duration(last_.load())); }
  [[nodiscard]] bool is_fresh(Clock::time_point now) const { return now - last() < longest_; }

 private:
  const std::chrono::milliseconds longest_;
  std::atomic<Clock::rep> last_ = 0;
};

class Writer {
 public:
  // REQUIRES: all of them outlive the writer.
  Writer(RemoteStore& store, Lanes& lanes, DeadLetters& letters, Tally& tally, const Pulse& pulse,
         BackOffLimits back_off);

  // Until the lanes stop.
  void run();
  // One load to its end.
  [[nodiscard]] Finished write(std::shared_ptr<Load> load);

 private:
  enum class Next : unsigned char { kAtOnce, kAfterRest, kDone, kDropped, kStop };
  Next try_once(Load& load);
  Next write_letters(Load& load);
  Next write_batch(Load& load);
  // Takes out what is answered for good. True: something has to rest before it goes again.
  bool sort_answers(Load& load);

  RemoteStore& store_;
  Lanes& lanes_;
  DeadLetters& letters_;
  Tally& tally_;
  const Pulse& pulse_;
  const BackOffLimits back_off_limits_;
  std::minstd_rand random_;
  std::vector<Answer> answers_;
  bool moved_ = false;         // the store has the position behind the load
  bool letters_wait_ = false;  // this was told as trouble
  Error error_;                // of kStop
};

}  // namespace reseq::remote
