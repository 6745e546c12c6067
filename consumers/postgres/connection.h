// Connection: one session with a PostgreSQL server. Every call has a time limit; what is not answered by then ends the
// session, because nobody knows what becomes of it. Of several hosts one after the other is tried, each for its own
// time. The only place that includes libpq.
// Thread rule: one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "consumers/postgres/arrays.h"

namespace reseq::postgres {

struct ServerSettings {
  std::string server = {};    // a URI or `key=value` words, as libpq reads them; empty: its environment and defaults
  std::string password = {};  // empty: libpq looks for one (PGPASSWORD, PGPASSFILE, a service file)
  std::chrono::milliseconds statement_limit{60'000};  // the server gives up a statement that takes longer
  std::chrono::milliseconds answer_limit{75'000};
  const std::atomic<bool>* interrupted = nullptr;  // set by any thread: whoever waits stops waiting
};

// Looks at `server` without connecting. kInvalid: libpq cannot read it, or it holds a secret (password, sslpassword),
// which every user of the machine could read in the list of processes.
[[nodiscard]] Result<> check_server(const std::string& server);
// Host, port and database, without secrets.
[[nodiscard]] std::string place_of(const std::string& server);

struct Parameter {
  TypeId type = 0;
  std::string bytes;  // in binary format
};

// What a statement answered. Binary values.
class Rows {
 public:
  explicit Rows(std::shared_ptr<void> result) : result_(std::move(result)) {}
  [[nodiscard]] std::size_t count() const;
  // Nothing: null. The view lives as long as the rows.
  [[nodiscard]] std::optional<std::string_view> at(std::size_t row, std::size_t column) const;
  // Rows that were written.
  [[nodiscard]] std::size_t affected() const;

 private:
  std::shared_ptr<void> result_;  // PGresult
};

class Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const ServerSettings& settings);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Error::code is state_code() of the server's SQLSTATE; Error::message its words. After any error that is not about
  // data the session is to be closed.
  Result<Rows> run(const std::string& statement, std::span<const Parameter> parameters = {});
  // Several statements, all of them or none.
  Result<> script(const std::string& statements);

 private:
  struct Body;
  explicit Connection(std::unique_ptr<Body> body);
  static Result<std::unique_ptr<Connection>> open_one(const ServerSettings& settings, const struct Host& host);
  Result<> start(std::chrono::milliseconds limit);
  Result<Rows> answer();
  Result<> wait(short events, std::chrono::steady_clock::time_point until);
  Result<> send_all(std::chrono::steady_clock::time_point until);
  std::unique_ptr<Body> body_;
};

}  // namespace reseq::postgres
