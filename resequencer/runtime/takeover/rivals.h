// Rivals: whether who fences this process is another one with its instance.id, and which of the two ends.
//
//   lost within a minute     ends at, settled   ends at, a newcomer
//   producers, fenced        2                  4
//   consumers, fenced        4                  8
//   consumers, otherwise     4                  4
//
// Two processes with one name fence each other in turns, every other second, and the one that came last goes on. A
// newcomer is who came within kSettledAfter before the fight began, for the first minute of it; a fight goes on while
// less than kQuiet passes between two times that this process is fenced, and what a newcomer has survived no longer
// counts in the next one.
// One time proves nothing: a leftover of ourselves is fenced as well, and so is a member that has no rival when answers
// to its joins are lost.
// Thread rule: one thread.
#pragma once

#include "model/ids.h"

namespace reseq::runtime {

class Rivals {
 public:
  static constexpr Milliseconds kWithin{60'000};
  static constexpr Milliseconds kSettledAfter{10'000};
  static constexpr Milliseconds kQuiet{20'000};
  static constexpr unsigned kProducers = 2;
  static constexpr unsigned kConsumers = 4;
  static constexpr unsigned kPatienceOfNewcomer = 2;

  explicit Rivals(Milliseconds began_at) : began_at_(began_at) {}

  // True: this process ends.
  bool producer_fenced(Milliseconds now) {
    fenced(now);
    return producers_.add(now, kWithin) >= kProducers * patience();
  }
  bool consumer_fenced(Milliseconds now, Milliseconds within) {
    fenced(now);
    return consumers_.add(now, within) >= kConsumers * patience();
  }
  bool consumer_lost(Milliseconds now, Milliseconds within) { return consumers_.add(now, within) >= kConsumers; }

  [[nodiscard]] unsigned consumers_lost() const { return consumers_.lost; }

 private:
  struct Count {
    unsigned lost = 0;
    Milliseconds since;  // of the first that counts

    unsigned add(Milliseconds now, Milliseconds within) {
      if (lost == 0 || now.value() - since.value() >= within.value()) *this = {0, now};
      return ++lost;
    }
  };

  void fenced(Milliseconds now) {
    if (!fenced_before_ || now.value() - last_.value() >= kQuiet.value()) {
      if (newcomer_) producers_ = consumers_ = {};
      newcomer_ = now.value() - began_at_.value() < kSettledAfter.value();
      fight_began_ = now;
    }
    // Two newcomers that fence each other slowly would go on for ever.
    if (now.value() - fight_began_.value() >= kWithin.value()) newcomer_ = false;
    fenced_before_ = true;
    last_ = now;
  }
  [[nodiscard]] unsigned patience() const { return newcomer_ ? kPatienceOfNewcomer : 1; }

  Milliseconds began_at_;
  Milliseconds fight_began_;
  Milliseconds last_;  // time of being fenced
  bool fenced_before_ = false;
  bool newcomer_ = false;  // in this fight
  Count producers_;
  Count consumers_;
};

}  // namespace reseq::runtime
