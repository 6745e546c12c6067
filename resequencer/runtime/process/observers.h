// Observers: what looks at the workers of a process from beside them: whether brokers answer, their reports, the way to
// their states, and the HTTP endpoint, which is there before any of them.
// Thread rule: as its parts say.
#pragma once

#include <memory>
#include <vector>

#include "http/broadcast.h"
#include "kafka/broker_question.h"
#include "kafka/broker_watch.h"
#include "runtime/application/application.h"
#include "runtime/application/clients.h"
#include "runtime/application/clock.h"
#include "runtime/desk/endpoint.h"
#include "runtime/desk/state_question.h"
#include "runtime/worker/report.h"

namespace reseq::runtime {

struct Observers {
  // REQUIRES: the first two outlive it.
  Observers(const Application& application, const Clock& clock, const Internals& internals)
      : question(connection_of(application.settings)),
        brokers([this, &application] { return ask(application); }, connection_of(application.settings).log),
        board(static_cast<std::size_t>(application.settings.workers)),
        endpoint(application, board, clock, internals, brokers, pictures) {
    for (std::int64_t i = 0; i < application.settings.workers; ++i) mailboxes.push_back(std::make_unique<Mailbox>());
  }

  Result<> ask(const Application& application) {
    auto asked = question.ask(kafka::BrokerWatch::kAskLimit);
    return asked ? asked : with_fix(asked.error(), application.settings);
  }

  kafka::BrokerQuestion question;
  kafka::BrokerWatch brokers;
  Board board;
  std::vector<std::unique_ptr<Mailbox>> mailboxes;  // by worker
  http::Broadcast pictures;                         // for the page
  Endpoint endpoint;
};

}  // namespace reseq::runtime
