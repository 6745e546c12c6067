#include "consumers/postgres/connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <libpq-fe.h>
#include <map>
#include <poll.h>
#include <utility>

#include "consumers/postgres/sql_state.h"

namespace reseq::postgres {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kBinary = 1;
constexpr std::chrono::milliseconds kStartLimit{10'000};  // of a host, unless connect_timeout says another
constexpr std::chrono::milliseconds kLook{100};           // how soon an interrupt is seen

// What a session of ours keeps to. A transaction of a process that was stopped must not hold its locks for long, and a
// lock of somebody else is waited for, but not for ever. What is answered has to survive a crash of the server.
constexpr const char* kSession =
    "SET idle_in_transaction_session_timeout = 10000; SET lock_timeout = 10000; "
    "SET client_min_messages = warning; DO $$ BEGIN IF current_setting('synchronous_commit') = 'off' THEN "
    "SET synchronous_commit = on; END IF; END $$";

std::string without_line_end(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::string line(text);
  for (char& letter : line)
    if (letter == '\n') letter = ' ';
  return line;
}

Error connection_error(const PGconn& connection, ErrorClass what_to_do = ErrorClass::kRetriable) {
  return {.what_to_do = what_to_do, .message = without_line_end(PQerrorMessage(&connection))};
}

std::string_view field(const PGresult& result, int code) {
  const char* text = PQresultErrorField(&result, code);
  return text != nullptr ? text : "";
}

Error error_of(const PGresult& result) {
  const std::string_view state = field(result, PG_DIAG_SQLSTATE);
  std::string words(field(result, PG_DIAG_MESSAGE_PRIMARY));
  if (words.empty()) words = PQresultErrorMessage(&result);
  if (const auto detail = field(result, PG_DIAG_MESSAGE_DETAIL); !detail.empty()) words += ": " + std::string(detail);
  if (!state.empty()) words += " (" + std::string(state) + ")";
  return {.what_to_do = is_about_data(state) ? ErrorClass::kInvalid : class_of(state),
          .code = state_code(state),
          .message = without_line_end(words)};
}

struct Options {
  std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> all{nullptr, PQconninfoFree};
  std::string trouble;

  explicit Options(const std::string& server) {
    char* message = nullptr;
    all.reset(PQconninfoParse(server.c_str(), &message));
    if (all == nullptr) trouble = message != nullptr ? without_line_end(message) : "out of memory";
    PQfreemem(message);
  }
  // A keyword of a secret that was set; empty: none.
  [[nodiscard]] std::string secret() const {
    for (const PQconninfoOption* one = all.get(); one != nullptr && one->keyword != nullptr; ++one) {
      const bool is_secret = std::string_view(one->dispchar) == "*" || std::string_view(one->keyword) == "sslpassword";
      if (is_secret && one->val != nullptr && *one->val != 0) return one->keyword;
    }
    return {};
  }
  [[nodiscard]] std::string value(std::string_view keyword) const {
    for (const PQconninfoOption* one = all.get(); one != nullptr && one->keyword != nullptr; ++one)
      if (keyword == one->keyword) return one->val != nullptr ? one->val : "";
    return {};
  }
};

}  // namespace

Result<> check_server(const std::string& server) {
  const Options options(server);
  if (options.all == nullptr)
    return Error{.what_to_do = ErrorClass::kInvalid, .message = "--server cannot be read: " + options.trouble};
  const std::string secret = options.secret();
  if (secret.empty()) return Done{};
  const std::string instead = secret == "sslpassword"
                                  ? "use a key without a password that only the sink may read, or a service file"
                                  : "use --password-file, PGPASSWORD or PGPASSFILE";
  return Error{.what_to_do = ErrorClass::kInvalid,
               .message = "--server holds a secret (" + secret +
                          "), which everybody on this machine can read in the list of processes: " + instead};
}

std::string place_of(const std::string& server) {
  const Options options(server);
  if (options.all == nullptr) return "postgresql";
  std::string place = "postgresql";
  for (const char* keyword : {"service", "host", "hostaddr", "port", "dbname"})
    if (const std::string value = options.value(keyword); !value.empty())
      place += std::string(" ") + keyword + "=" + value;
  return place;
}

std::size_t Rows::count() const {
  return static_cast<std::size_t>(PQntuples(static_cast<const PGresult*>(result_.get())));
}

std::optional<std::string_view> Rows::at(std::size_t row, std::size_t column) const {
  const auto* result = static_cast<const PGresult*>(result_.get());
  const int r = static_cast<int>(row);
  const int c = static_cast<int>(column);
  if (PQgetisnull(result, r, c) != 0) return std::nullopt;
  return std::string_view(PQgetvalue(result, r, c), static_cast<std::size_t>(PQgetlength(result, r, c)));
}

std::size_t Rows::affected() const {
  const char* text = PQcmdTuples(static_cast<PGresult*>(result_.get()));
  return text == nullptr || *text == 0 ? 0 : std::stoul(text);
}

// A failed start says why in the server's words, with a state when they came from the server.
Error start_error(const PGconn& connection) {
  Error error = connection_error(connection);
  const std::string_view state = state_within(error.message);
  error.code = state_code(state);
  error.what_to_do = class_of(state);
  if (const std::size_t location = error.message.find(" LOCATION:"); location != std::string::npos)
    error.message.resize(location);
  return error;
}

struct Connection::Body {
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection{nullptr, PQfinish};
  std::chrono::milliseconds answer_limit{};
  const std::atomic<bool>* interrupted = nullptr;
};

// One of those that `server` names. libpq would go through them itself, but without a time for each of them.
struct Host {
  std::optional<std::string> host = {};
  std::optional<std::string> hostaddr = {};
  std::optional<std::string> port = {};
  std::chrono::milliseconds limit = kStartLimit;
};

namespace {

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char letter : list) {
    if (letter == ',')
      parts.emplace_back();
    else
      parts.back().push_back(letter);
  }
  return parts;
}

std::vector<Host> hosts_of(const std::string& server) {
  const Options options(server);
  const auto list = [&](const char* keyword, const char* variable) {
    std::string value = options.value(keyword);
    if (const char* of_environment = std::getenv(variable); value.empty() && of_environment != nullptr)
      value = of_environment;
    return parts_of(value);
  };
  const std::vector<std::string> names = list("host", "PGHOST");
  const std::vector<std::string> addresses = list("hostaddr", "PGHOSTADDR");
  const std::vector<std::string> ports = list("port", "PGPORT");
  Host any;
  const std::string timeout = options.value("connect_timeout");
  const char* of_environment = std::getenv("PGCONNECT_TIMEOUT");
  const int seconds = std::atoi(timeout.empty() && of_environment != nullptr ? of_environment : timeout.c_str());
  if (seconds > 0) any.limit = std::chrono::seconds(std::min(seconds, 3'600));
  const std::size_t count = std::max(names.size(), addresses.size());
  // One host, or lists that do not fit together, which libpq says best.
  const auto fits = [&](const std::vector<std::string>& one) { return one.size() == 1 || one.size() == count; };
  if (count == 1 || !fits(ports) || (names.size() != count && !names[0].empty()) ||
      (addresses.size() != count && !addresses[0].empty()))
    return {any};
  std::vector<Host> hosts(count, any);
  for (std::size_t i = 0; i < count; ++i) {
    if (names.size() == count) hosts[i].host = names[i];
    if (addresses.size() == count) hosts[i].hostaddr = addresses[i];
    hosts[i].port = ports.size() == 1 ? ports[0] : ports[i];
  }
  return hosts;
}

}  // namespace

Connection::Connection(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const ServerSettings& settings) {
  Error failed;
  for (const Host& host : hosts_of(settings.server)) {
    auto opened = open_one(settings, host);
    if (opened) return opened;
    // What passes at one of them is worth another try.
    const bool is_first = failed.message.empty();
    if (is_first || opened.error().what_to_do != ErrorClass::kInvalid) {
      failed.what_to_do = opened.error().what_to_do;
      failed.code = opened.error().code;
    }
    failed.message += (is_first ? "" : "; ") + opened.error().message;
  }
  return failed;
}

Result<std::unique_ptr<Connection>> Connection::open_one(const ServerSettings& settings, const Host& host) {
  // Of a keyword that comes twice the last one counts: what stands before dbname can be set by it.
  std::vector<const char*> keywords = {
      "fallback_application_name", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout",
      "target_session_attrs",      "dbname",          "client_encoding"};
  std::vector<const char*> values = {"reseq-sink-postgres",   "10",  "5", "3", "30000", "read-write",
                                     settings.server.c_str(), "UTF8"};
  if (!settings.password.empty()) {
    keywords.push_back("password");
    values.push_back(settings.password.c_str());
  }
  const std::pair<const char*, const std::optional<std::string>*> places[] = {
      {"host", &host.host}, {"hostaddr", &host.hostaddr}, {"port", &host.port}};
  for (const auto& [keyword, value] : places) {
    if (!value->has_value()) continue;
    keywords.push_back(keyword);
    values.push_back((*value)->c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  auto body = std::make_unique<Body>();
  body->answer_limit = settings.answer_limit;
  body->interrupted = settings.interrupted;
  body->connection.reset(PQconnectStartParams(keywords.data(), values.data(), 1));
  if (body->connection == nullptr) return Error{.what_to_do = ErrorClass::kRetriable, .message = "out of memory"};
  std::unique_ptr<Connection> opened(new Connection(std::move(body)));
  if (Result<> started = opened->start(host.limit); !started) return started.error();
  const std::string limit = "SET statement_timeout = " + std::to_string(settings.statement_limit.count()) + "; ";
  if (auto set = opened->script(limit + kSession); !set) return set.error();
  return opened;
}

Result<> Connection::start(std::chrono::milliseconds limit) {
  PGconn* connection = body_->connection.get();
  PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
  PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
  const auto until = SteadyClock::now() + limit;
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (PQstatus(connection) != CONNECTION_BAD && next != PGRES_POLLING_OK) {
    if (next == PGRES_POLLING_FAILED) break;
    if (Result<> ready = wait(next == PGRES_POLLING_READING ? POLLIN : POLLOUT, until); !ready)
      return Error{.what_to_do = ErrorClass::kRetriable,
                   .message = "no connection within " + std::to_string(limit.count()) + " ms to " +
                              std::string(PQhost(connection)) + " port " + PQport(connection)};
    next = PQconnectPoll(connection);
  }
  if (PQstatus(connection) != CONNECTION_OK) return start_error(*connection);
  PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
  PQsetnonblocking(connection, 1);
  return Done{};
}

Result<> Connection::wait(short events, SteadyClock::time_point until) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now());
    if (left.count() <= 0)
      return Error{.what_to_do = ErrorClass::kTimeout,
                   .message = "no answer within " + std::to_string(body_->answer_limit.count()) + " ms"};
    if (body_->interrupted != nullptr && *body_->interrupted)
      return Error{.what_to_do = ErrorClass::kTimeout, .message = "interrupted, because the sink ends"};
    pollfd one{.fd = PQsocket(body_->connection.get()), .events = events, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(std::min(left, kLook).count()));
    if (ready > 0) return Done{};
    if (ready < 0 && errno != EINTR)
      return Error{.what_to_do = ErrorClass::kRetriable, .message = std::string("poll: ") + std::strerror(errno)};
  }
}

Result<> Connection::send_all(SteadyClock::time_point until) {
  PGconn* connection = body_->connection.get();
  while (true) {
    const int flushed = PQflush(connection);
    if (flushed < 0) return connection_error(*connection);
    if (flushed == 0) return Done{};
    if (Result<> ready = wait(POLLIN | POLLOUT, until); !ready) return ready;
    // An error or a notice may come before all is sent.
    if (PQconsumeInput(connection) == 0) return connection_error(*connection);
  }
}

Result<Rows> Connection::run(const std::string& statement, std::span<const Parameter> parameters) {
  PGconn* connection = body_->connection.get();
  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> lengths;
  for (const Parameter& parameter : parameters) {
    types.push_back(parameter.type);
    values.push_back(parameter.bytes.data());
    lengths.push_back(static_cast<int>(parameter.bytes.size()));
  }
  const std::vector<int> formats(parameters.size(), kBinary);
  if (PQsendQueryParams(connection, statement.c_str(), static_cast<int>(parameters.size()), types.data(), values.data(),
                        lengths.data(), formats.data(), kBinary) == 0)
    return connection_error(*connection);
  return answer();
}

Result<> Connection::script(const std::string& statements) {
  PGconn* connection = body_->connection.get();
  if (PQsendQuery(connection, statements.c_str()) == 0) return connection_error(*connection);
  const auto rows = answer();
  return rows ? Result<>(Done{}) : Result<>(rows.error());
}

// Of several statements the last one, or the one that failed.
Result<Rows> Connection::answer() {
  PGconn* connection = body_->connection.get();
  const auto until = SteadyClock::now() + body_->answer_limit;
  if (Result<> sent = send_all(until); !sent) return sent.error();
  std::shared_ptr<PGresult> last;
  while (true) {
    while (PQisBusy(connection) != 0) {
      if (Result<> ready = wait(POLLIN, until); !ready) return ready.error();
      if (PQconsumeInput(connection) == 0) return connection_error(*connection);
    }
    PGresult* result = PQgetResult(connection);
    if (result == nullptr) break;
    last.reset(result, PQclear);
  }
  if (last == nullptr) return connection_error(*connection);
  const auto status = PQresultStatus(last.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return error_of(*last);
  return Rows(std::move(last));
}

}  // namespace reseq::postgres
