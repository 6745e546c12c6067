#include "tests/postgres/server.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <pwd.h>
#include <stdexcept>
#include <unistd.h>

#include "tests/e2e/patience.h"
#include "tests/support/free_port.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

// Debian keeps each version apart; the newest one.
const std::string& programs() {
  static const std::string folder = [] {
    int newest = 0;
    for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql"))
      newest = std::max(newest, std::atoi(version.path().filename().c_str()));
    return "/usr/lib/postgresql/" + std::to_string(newest) + "/bin/";
  }();
  return folder;
}
constexpr int kInitLimitMs = 120'000;
constexpr int kStopLimitMs = 30'000;

// Whom the server runs as when the test is root, which it refuses to be.
const passwd& somebody_else() {
  const passwd* user = ::getpwnam("postgres");
  if (user == nullptr) user = ::getpwnam("nobody");
  if (user == nullptr) throw std::runtime_error("neither a user postgres nor nobody");
  return *user;
}

}  // namespace

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer() : data_(folder_.path() + "/server"), port_(free_port()) {
  std::filesystem::create_directory(data_);
  if (::getuid() == 0) {
    const passwd& user = somebody_else();
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0711));
    if (::chown(data_.c_str(), user.pw_uid, user.pw_gid) != 0) throw std::runtime_error("chown " + data_);
  }
  Process init(unprivileged({programs() + "initdb", "-D", data_ + "/data", "-U", "owner", "-A", "trust", "-E", "UTF8",
                             "--locale=C.UTF-8", "--no-sync", "--no-instructions"}),
               folder_.path() + "/initdb.log");
  if (init.wait(kInitLimitMs) != 0) throw std::runtime_error("initdb: " + init.tail());
  start();
}

PostgresServer::~PostgresServer() {
  if (process_ == nullptr) return;
  process_->signal(SIGINT);  // a fast shutdown
  process_->wait(kStopLimitMs);
}

std::vector<std::string> PostgresServer::unprivileged(std::vector<std::string> argv) const {
  if (::getuid() != 0) return argv;
  const passwd& user = somebody_else();
  std::vector<std::string> all = {"setpriv", "--reuid=" + std::to_string(user.pw_uid),
                                  "--regid=" + std::to_string(user.pw_gid), "--clear-groups", "--"};
  all.insert(all.end(), argv.begin(), argv.end());
  return all;
}

void PostgresServer::start() {
  // Synchronous commits survive a kill of the process without fsync, which is for the machine.
  const auto begin = [this] {
    process_ = std::make_unique<Process>(
        unprivileged({programs() + "postgres", "-D", data_ + "/data", "-h", "127.0.0.1", "-p", std::to_string(port_),
                      "-k", data_, "-c", "fsync=off", "-c", "max_connections=60"}),
        folder_.path() + "/server.log");
  };
  begin();
  const bool answers = wait_until(kPatience, [&] {
    // Sessions of the one that was killed may still hold its memory: then it ends at once.
    if (!process_->running()) begin();
    return postgres::Connection::open({.server = url("postgres")}).ok();
  });
  if (!answers) throw std::runtime_error("PostgreSQL does not answer: " + process_->tail());
}

void PostgresServer::kill() {
  process_->signal(SIGKILL);
  process_->wait(kStopLimitMs);
}

std::string PostgresServer::url(const std::string& database, const std::string& user) const {
  return "postgresql://" + user + "@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

std::string PostgresServer::make_database(const std::string& name) {
  Session(url("postgres")).script("CREATE DATABASE \"" + name + "\"");
  return url(name);
}

void PostgresServer::ask_for_password(const std::string& user, const std::string& password) {
  const std::string file = data_ + "/data/pg_hba.conf";  // the first line that fits decides
  std::ifstream old(file);
  const std::string others{std::istreambuf_iterator<char>(old), {}};
  std::ofstream(file) << "host all \"" << user << "\" 127.0.0.1/32 scram-sha-256\n" << others;
  Session session(url("postgres"));
  session.script("SET password_encryption = 'scram-sha-256'; CREATE ROLE \"" + user + "\" LOGIN SUPERUSER PASSWORD '" +
                 password + "'");
  session.cell("SELECT pg_reload_conf()::text");
}

Session::Session(const std::string& url) : connection_(good(postgres::Connection::open({.server = url}))) {}

std::vector<std::string> Session::list(const std::string& query) {
  const auto rows = good(connection_->run(query));
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < rows.count(); ++i) cells.emplace_back(rows.at(i, 0).value_or("(null)"));
  return cells;
}

std::string Session::cell(const std::string& query) {
  const std::vector<std::string> cells = list(query);
  if (cells.size() != 1) throw std::runtime_error(std::to_string(cells.size()) + " rows: " + query);
  return cells[0];
}

void Session::script(const std::string& statements) {
  good(connection_->script(statements));
}

}  // namespace reseq::test
