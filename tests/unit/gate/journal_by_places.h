// JournalByPlaces: an application whose journal holds everything by its place in `requests`, or nearly, and a reader of
// that which fails as it is told.
// Thread rule: one thread.
#pragma once

#include <gtest/gtest.h>
#include <memory>

#include "gated.h"
#include "troubled.h"

namespace reseq::runtime::troubled {

class JournalByPlaces : public Gated<1> {
 protected:
  // Bodies may take half of so many bytes.
  explicit JournalByPlaces(std::int64_t held_bytes_max = 0) : Gated(by_places(held_bytes_max)) {
    trouble.topic = application.topics.of(Role::kRequests);
  }
  static config::Settings by_places(std::int64_t held_bytes_max) {
    config::Settings settings = of_one_target();
    settings.dispatch_mode = "journal";
    settings.held_bytes_max = held_bytes_max;
    return settings;
  }
  void begin() {
    worker = std::make_unique<Worker>(application, cluster, clock, shelf, [] { return HashKey{}; });
    for (int i = 0; i < 10'000 && !all_running(); ++i) step();
    ASSERT_TRUE(all_running());
  }
  void run(std::int64_t ms) {
    for (const std::int64_t until = clock.now().value() + ms; clock.now().value() < until;) step();
  }

  Trouble trouble;
  TroubledCluster cluster{*kafka, trouble};
};

}  // namespace reseq::runtime::troubled
