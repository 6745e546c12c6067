// BrokerQuestion: do the brokers answer? bootstrap.servers may name one alone, which may be gone while the others work:
// where all of them are is remembered, and they are asked, too.
// Thread rule: any thread.
#pragma once

#include <mutex>
#include <string>

#include "runtime/application.h"

namespace reseq::runtime {

class BrokerQuestion {
 public:
  // REQUIRES: the application outlives it.
  explicit BrokerQuestion(const Application& application) : application_(application) {}

  // By a client of its own that tells nothing. An error says why none has answered within `limit`, with the fix. When
  // one does it is asked where the others are.
  Result<> ask(Milliseconds limit);

 private:
  const Application& application_;
  std::mutex mutex_;
  std::string known_;  // as bootstrap.servers takes it
};

}  // namespace reseq::runtime
