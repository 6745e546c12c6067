// Observers: what looks at the workers of a process from beside them: their reports, the way to their states, and the
// HTTP endpoint, which is there before any of them.
// Thread rule: as its parts say.
#pragma once

#include <memory>
#include <vector>

#include "http/broadcast.h"
#include "runtime/application.h"
#include "runtime/clock.h"
#include "runtime/endpoint.h"
#include "runtime/report.h"
#include "runtime/state_question.h"

namespace reseq::runtime {

struct Observers {
  // REQUIRES: both outlive it.
  Observers(const Application& application, const Clock& clock, Milliseconds stuck_after)
      : board(static_cast<std::size_t>(application.settings.workers)),
        endpoint(application, board, clock, stuck_after, pictures) {
    for (std::int64_t i = 0; i < application.settings.workers; ++i) mailboxes.push_back(std::make_unique<Mailbox>());
  }

  Board board;
  std::vector<std::unique_ptr<Mailbox>> mailboxes;  // by worker
  http::Broadcast pictures;                         // for the page
  Endpoint endpoint;
};

}  // namespace reseq::runtime
