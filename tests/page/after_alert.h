// AfterAlert: an application that has worked for a while before somebody opens its page. Meanwhile tests that look at
// no page play with applications of their own: they are defined in front of the others.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <thread>

#include "tests/page/looking.h"

namespace reseq::test {

class AfterAlert : public Looking {
 protected:
  static void SetUpTestSuite() {
    office_ = std::make_unique<Office>("[[target]]\nname = \"history\"\norder = \"strict\"\noptional = true\n");
    for (const char* sequence : {"1", "2"})
      office_->send("requests", "late", {{"reseq-seq", sequence}, {"reseq-targets", "history"}});
    office_->settle();
    office_->send("commands", "late", {{"reseq-command", "sequence"}, {"reseq-seq", "2"}, {"reseq-target", "history"}});
    for (int i = 0; i < 40; ++i) office_->request("document-" + std::to_string(i), 1);
    office_->settle();
    // Two points of the charts, and one more that may have missed an answer.
    opened_ = std::chrono::steady_clock::now() + std::chrono::seconds(50);
  }
  // Somebody who comes with the first test that looks: an instance has died.
  static void look() {
    if (browser_) return;
    std::this_thread::sleep_until(opened_);
    office_->fleet().kill(3);
    start_browser();
  }

  static inline std::chrono::steady_clock::time_point opened_;
};

}  // namespace reseq::test
