// BrokerQuestion: do the brokers answer? bootstrap.servers may name one alone, which may be gone while the others work:
// where all of them are is remembered, and they are asked, too.
// Thread rule: any thread.
#pragma once

#include <mutex>
#include <string>

#include "kafka/settings.h"

namespace reseq::kafka {

class BrokerQuestion {
 public:
  // What the connection logs is left out: the question tells nothing but its answer.
  explicit BrokerQuestion(Connection connection);

  // By a client of its own. An error says why none has answered within `limit`. When one does, it tells where the
  // others are.
  Result<> ask(Milliseconds limit);

 private:
  const Connection connection_;
  std::mutex mutex_;
  std::string known_;  // as bootstrap.servers takes it
};

}  // namespace reseq::kafka
