// PostgresServer: a PostgreSQL cluster of one test program, in a temporary folder, on loopback, as an unprivileged
// user; no service of the system is touched. It may be killed and started again at the same port.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "consumers/postgres/connection.h"
#include "tests/support/process.h"

namespace reseq::test {

class PostgresServer {
 public:
  // Made at the first call, which takes some seconds. Throws when it cannot be.
  static PostgresServer& shared();
  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // kill -9 of the server; its sessions end, too.
  void kill();
  // Answers when this returns; throws as the constructor.
  void start();

  [[nodiscard]] std::string url(const std::string& database, const std::string& user = "owner") const;
  // From now on that user has to log in; all others are let in as they are.
  void ask_for_password(const std::string& user, const std::string& password);
  // A new database, empty.
  std::string make_database(const std::string& name);

 private:
  std::vector<std::string> unprivileged(std::vector<std::string> argv) const;

  TempDir folder_;
  std::string data_;
  int port_ = 0;
  std::unique_ptr<Process> process_;
};

// A session with one database; every error is thrown.
class Session {
 public:
  explicit Session(const std::string& url);
  // The first column of each row, which has to be text; null is "(null)".
  std::vector<std::string> list(const std::string& query);
  // The only row of such a query.
  std::string cell(const std::string& query);
  void script(const std::string& statements);

 private:
  std::unique_ptr<postgres::Connection> connection_;
};

}  // namespace reseq::test
