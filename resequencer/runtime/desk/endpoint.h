// Endpoint: /metrics, /livez and /readyz of this process, and for this host alone the page, on http.listen. An address
// that is taken is no reason to stop working: it is tried again, because a process that is being replaced may still
// have it.
// Thread rule: one thread calls it; answers are made by threads of the server.
#pragma once

#include <atomic>
#include <vector>

#include "http/broadcast.h"
#include "http/server.h"
#include "kafka/broker_watch.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/application/internals.h"
#include "runtime/worker/report.h"

namespace reseq::runtime {

class Endpoint {
 public:
  // REQUIRES: all outlive it; http.listen of the application is an address, or empty, which means none.
  // `pictures`: what the page shows, sent by a PageDesk.
  Endpoint(const Application& application, const Board& board, const Clock& clock, const Internals& internals,
           const kafka::BrokerWatch& brokers, http::Broadcast& pictures);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Now and then: binds when it is time and has not happened yet.
  void look();

 private:
  [[nodiscard]] std::vector<http::Path> paths();
  [[nodiscard]] std::vector<http::Stream> streams(http::Broadcast& pictures) const;
  // Of the page, if it may do something.
  [[nodiscard]] std::vector<http::Path> operations() const;
  [[nodiscard]] http::Answer metrics() const;
  [[nodiscard]] http::Answer livez(bool verbose) const;
  [[nodiscard]] http::Answer readyz(bool verbose) const;

  const Application& application_;
  const Board& board_;
  const Clock& clock_;
  const kafka::BrokerWatch& brokers_;
  Milliseconds stuck_after_;
  PageOperations page_operations_;
  bool done_ = false;  // nothing is to be bound any more
  bool told_ = false;  // that it cannot be
  Milliseconds retry_at_;
  std::atomic<bool> stop_ = false;
  http::Server server_;
};

}  // namespace reseq::runtime
