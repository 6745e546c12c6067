// Feed: makes batches of a history: producers, workers that get what is dispatched, an operator and the clock. Workers
// answer in any order, twice, late or never.
// Thread rule: one thread.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "tests/journal/history.h"
#include "tests/journal/job.h"

namespace reseq::journal {

inline constexpr UnixMs kStart{1'000'000};
inline constexpr std::size_t kInputsMax = 12;             // of a batch
inline constexpr std::int64_t kBehindAllDates = 700'000;  // further than every date, lease and back-off of a feed

// What of a history is left out.
struct Without {
  bool wishes = false;     // priorities, dates, expirations, and what an operator says of them
  bool strangers = false;  // what nobody asked for, forks, what is given up, and the operator
  bool crowds = false;     // batches have one input each
  bool failures = false;   // work that could not be done
};

class Feed {
 public:
  explicit Feed(const Without& without = {}) : without_(without) {}

  void play(const Step& step);

  // The batches that are to be played now, one after the other; none: nothing is.
  [[nodiscard]] std::optional<Batch> next();

  // What the pipeline sees of it.
  void take(const Answer& answer);

  // Everything that has come is to be decided, and the workers answer all that they have. False: there was nothing.
  [[nodiscard]] bool finish();
  void answer(std::size_t document, OrderNumber order, TargetNumber target, std::uint32_t attempt);
  // An operator says that these targets are there again.
  void resume(TargetSet targets);
  void move_clock(std::int64_t by) { now_ = UnixMs(now_.value() + by); }
  // The next batch comes, whatever there is for it.
  void want_batch() { batches_.push_back({kInputsMax, kInputsMax}); }

  [[nodiscard]] UnixMs now() const { return now_; }

 private:
  struct Piece {  // of work
    std::size_t document = 0;
    OrderNumber order = 0;
    TargetNumber target;
    std::uint32_t attempt = 1;
  };
  struct Size {
    std::size_t requests = 0;
    std::size_t commands = 0;
  };

  void write_request(const Step& step, OrderNumber order);
  void wish(const Step& step, Input& input) const;
  void write_late(const Step& step);
  void resend(const Step& step);
  void stray(const Step& step);
  void command(const Step& step);
  static void fail(const Step& step, Input& input);
  void operate(const Step& step);
  void step_clock(const Step& step);
  void write(Input input, std::deque<Input>& to);
  [[nodiscard]] std::size_t document_of(const Step& step) const { return step.document % kDocuments; }

  Without without_;
  UnixMs now_ = kStart;
  std::array<OrderNumber, kDocuments> newest_{};
  std::vector<Input> log_;  // of requests
  std::deque<Input> requests_, operations_, commands_;
  std::vector<Piece> work_;
  std::deque<Size> batches_;
  std::int64_t position_ = 0;
};

}  // namespace reseq::journal
