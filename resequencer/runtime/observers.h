// Observers: what looks at the workers of a process from beside them: whether brokers answer, their reports, the way to
// their states, and the HTTP endpoint, which is there before any of them.
// Thread rule: as its parts say.
#pragma once

#include <memory>
#include <vector>

#include "http/broadcast.h"
#include "runtime/application.h"
#include "runtime/broker_question.h"
#include "runtime/broker_watch.h"
#include "runtime/clients.h"
#include "runtime/clock.h"
#include "runtime/endpoint.h"
#include "runtime/report.h"
#include "runtime/state_question.h"

namespace reseq::runtime {

struct Observers {
  // REQUIRES: both outlive it.
  Observers(const Application& application, const Clock& clock, Milliseconds stuck_after)
      : question(application),
        brokers(
            clock, [this] { return question.ask(BrokerWatch::kAskLimit); }, connection_of(application.settings).log),
        board(static_cast<std::size_t>(application.settings.workers)),
        endpoint(application, board, clock, stuck_after, brokers, pictures) {
    for (std::int64_t i = 0; i < application.settings.workers; ++i) mailboxes.push_back(std::make_unique<Mailbox>());
  }

  BrokerQuestion question;
  BrokerWatch brokers;
  Board board;
  std::vector<std::unique_ptr<Mailbox>> mailboxes;  // by worker
  http::Broadcast pictures;                         // for the page
  Endpoint endpoint;
};

}  // namespace reseq::runtime
