#include "consumers/postgres/connection.h"

#include <array>
#include <cerrno>
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
constexpr std::chrono::milliseconds kStartLimit{10'000};

// What a session of ours keeps to. A transaction of a process that was stopped must not hold its locks for long, and a
// lock of somebody else is waited for, but not for ever. What is answered has to survive a crash of the server.
constexpr const char* kSession =
    "SET idle_in_transaction_session_timeout = 10000; SET lock_timeout = 10000; SET statement_timeout = 60000; "
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
  if (options.value("password").empty()) return Done{};
  return Error{.what_to_do = ErrorClass::kInvalid,
               .message =
                   "--server holds a password, which everybody on this machine can read in the list of "
                   "processes: use --password-file, PGPASSWORD or PGPASSFILE"};
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
};

Connection::Connection(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const ServerSettings& settings) {
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
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  auto body = std::make_unique<Body>();
  body->answer_limit = settings.answer_limit;
  body->connection.reset(PQconnectStartParams(keywords.data(), values.data(), 1));
  if (body->connection == nullptr) return Error{.what_to_do = ErrorClass::kRetriable, .message = "out of memory"};
  std::unique_ptr<Connection> opened(new Connection(std::move(body)));
  if (Result<> started = opened->start(); !started) return started.error();
  if (auto set = opened->script(kSession); !set) return set.error();
  return opened;
}

Result<> Connection::start() {
  PGconn* connection = body_->connection.get();
  PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
  PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
  const auto until = SteadyClock::now() + kStartLimit;
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (PQstatus(connection) != CONNECTION_BAD && next != PGRES_POLLING_OK) {
    if (next == PGRES_POLLING_FAILED) break;
    if (Result<> ready = wait(next == PGRES_POLLING_READING ? POLLIN : POLLOUT, until); !ready)
      return Error{.what_to_do = ErrorClass::kRetriable,
                   .message = "no connection within " + std::to_string(kStartLimit.count()) + " ms"};
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
    pollfd one{.fd = PQsocket(body_->connection.get()), .events = events, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(left.count()));
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
