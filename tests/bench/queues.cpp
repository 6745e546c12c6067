// The same work as a queue of the journal and as a table of PostgreSQL: one client fills it, and when all of it waits,
// others take what is most urgent, have nothing to do with it, and say that it is done. Measured from the first request
// until the last one is done. CPU time is that of all processes of the servers: the broker's and the resequencer's, or
// the database's.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "codec/decimal.h"
#include "consumers/postgres/connection.h"
#include "tests/bench/journal.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

const std::string kQueue = "queue";

// What a client of a queue in PostgreSQL usually is; the settings were the best of some here.
constexpr std::size_t kInsertedAtOnce = 1'000;
constexpr std::size_t kTakenAtOnce = 1'000;
constexpr std::size_t kTakers = 2;
constexpr std::chrono::milliseconds kQueueIsEmpty{5};

// Settings of a server whose owner has read the manual; the table is vacuumed as often as the index needs it.
constexpr const char* kServerSettings[] = {"ALTER SYSTEM SET max_wal_size = '8GB'",
                                           "ALTER SYSTEM SET checkpoint_timeout = '15min'",
                                           "ALTER SYSTEM SET autovacuum_naptime = '1s'", "SELECT pg_reload_conf()"};
constexpr const char* kTable =
    "DROP TABLE IF EXISTS bench_queue;"
    "CREATE TABLE bench_queue (id bigint GENERATED ALWAYS AS IDENTITY, priority integer NOT NULL,"
    " process_at timestamptz NOT NULL DEFAULT now(), document text NOT NULL, payload text NOT NULL)"
    " WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);"
    "CREATE UNIQUE INDEX ON bench_queue (priority, process_at, id);"
    "DROP TABLE IF EXISTS bench_released;"
    "CREATE TABLE bench_released (version bigint GENERATED ALWAYS AS IDENTITY, target text NOT NULL,"
    " document text NOT NULL, payload text NOT NULL)";
constexpr const char* kRelease =
    "INSERT INTO bench_released (target, document, payload) SELECT target, document, payload"
    " FROM unnest($1, $2) AS result (document, payload), unnest('{search,catalogue}'::text[]) AS target";
constexpr const char* kInsert =
    "INSERT INTO bench_queue (priority, document, payload) SELECT * FROM unnest($1, $2, $3)";
// It stays locked until the commit says that it is done; who dies gives it back. Rows that are locked keep their place
// in the table, so they need no second index to be found by.
constexpr const char* kPrepareTake =
    "PREPARE take AS DELETE FROM bench_queue WHERE ctid = ANY (ARRAY (SELECT ctid FROM bench_queue"
    " WHERE process_at <= now() ORDER BY priority, process_at, id LIMIT $1 FOR UPDATE SKIP LOCKED))"
    " RETURNING document, payload";

std::int32_t priority_of(std::uint64_t document) {
  return std::stoi(std::string(kPriorities[document % kPriorities.size()]));
}

enum class Results : unsigned char { kNone, kReleased };

class PostgresQueue {
 public:
  // Released: a result for each target is kept for others, as the outputs of the resequencer are.
  PostgresQueue(std::string url, const Requests& requests, Results results)
      : url_(std::move(url)), requests_(requests), results_(results), done_(requests.documents()) {
    const auto owner = open();
    for (const char* setting : kServerSettings) (void)test::good(owner->script(setting));
    (void)test::good(owner->script(kTable));
  }

  Measured run() {
    const pid_t server = listener(url_);
    std::vector<std::unique_ptr<postgres::Connection>> clients;
    for (std::size_t client = 0; client <= kTakers; ++client) clients.push_back(open());
    const Sample begin = look(server);
    fill(*clients[0]);
    std::vector<std::future<void>> all;
    for (std::size_t taker = 1; taker <= kTakers; ++taker)
      all.push_back(std::async(std::launch::async, [this, &client = *clients[taker]] { take_all(client); }));
    for (auto& one : all) one.wait();
    const Sample end = look(server);
    for (auto& one : all) one.get();
    if (const auto twice = std::find_if(done_.begin(), done_.end(), [](const auto& times) { return times != 1; });
        twice != done_.end())
      throw std::runtime_error("postgres: " + id_of(static_cast<std::uint64_t>(twice - done_.begin())) + " was done " +
                               std::to_string(*twice) + " times");
    return between(begin, end, static_cast<double>(requests_.documents()));
  }

 private:
  [[nodiscard]] std::unique_ptr<postgres::Connection> open() const {
    return test::good(postgres::Connection::open({.server = url_}));
  }

  static Sample look(pid_t server) {
    Sample now;
    now.cpu_s = family_cpu_seconds(server);
    now.machine_cpu_s = machine_cpu_seconds();
    now.at = std::chrono::steady_clock::now();
    return now;
  }

  void fill(postgres::Connection& client) const {
    for (std::size_t first = 0; first < requests_.all().size(); first += kInsertedAtOnce) {
      const std::size_t count = std::min(kInsertedAtOnce, requests_.all().size() - first);
      postgres::ArrayWriter priorities(postgres::kInt4Type, count);
      postgres::ArrayWriter documents(postgres::kTextType, count);
      postgres::ArrayWriter payloads(postgres::kTextType, count);
      for (std::size_t i = first; i < first + count; ++i) {
        const Request& request = requests_.all()[i];
        priorities.add_int4(priority_of(request.document));
        documents.add(id_of(request.document));
        payloads.add(payload_of(request));
      }
      const std::array parameters = {postgres::Parameter{postgres::kInt4ArrayType, priorities.take()},
                                     postgres::Parameter{postgres::kTextArrayType, documents.take()},
                                     postgres::Parameter{postgres::kTextArrayType, payloads.take()}};
      (void)test::good(client.run(kInsert, parameters));
    }
  }

  void take_all(postgres::Connection& client) try {
    (void)test::good(client.script(kPrepareTake));
    const std::string take = "EXECUTE take (" + std::to_string(kTakenAtOnce) + ")";
    while (count_ < requests_.documents() && !failed_) {
      check_interrupted();
      (void)test::good(client.script("BEGIN"));
      const postgres::Rows rows = test::good(client.run(take));
      if (results_ == Results::kReleased) release(rows, client);
      (void)test::good(client.script("COMMIT"));
      for (std::size_t row = 0; row < rows.count(); ++row) note(*rows.at(row, 0), *rows.at(row, 1));
      if (rows.count() == 0) std::this_thread::sleep_for(kQueueIsEmpty);
    }
  } catch (...) {
    failed_ = true;
    throw;
  }

  static void release(const postgres::Rows& rows, postgres::Connection& client) {
    postgres::ArrayWriter documents(postgres::kTextType, rows.count());
    postgres::ArrayWriter payloads(postgres::kTextType, rows.count());
    for (std::size_t row = 0; row < rows.count(); ++row) {
      documents.add(*rows.at(row, 0));
      payloads.add(*rows.at(row, 1));
    }
    const std::array parameters = {postgres::Parameter{postgres::kTextArrayType, documents.take()},
                                   postgres::Parameter{postgres::kTextArrayType, payloads.take()}};
    (void)test::good(client.run(kRelease, parameters));
  }

  void note(std::string_view id, std::string_view payload) {
    const auto document = codec::parse_decimal<std::uint64_t>(id.substr(std::min(id.size(), id.find('-') + 1)));
    if (!document || payload != payload_of({*document, 1})) throw std::runtime_error("postgres: another payload");
    ++done_.at(*document);
    ++count_;
  }

  std::string url_;
  const Requests& requests_;
  Results results_;
  std::vector<std::atomic<int>> done_;  // how often, by document
  std::atomic<std::uint64_t> count_ = 0;
  std::atomic<bool> failed_ = false;
};

Measured run_journal(const Site& site, const Requests& requests, Report& report) {
  const pid_t broker = listener(site.bootstrap_servers);
  const Application application(site, kQueue, Mode::kLife, {.settings = kJournal});
  const Processes processes = start(resequencer(site), application);
  Progress taken(application, "requests");
  Progress done(application, "commands");
  await_takeover(application, processes);
  const double broker_before = family_cpu_seconds(broker);
  const Sample begin = sample(done, processes);
  requests.send(site.connection(), application.topic("requests"), {.priorities = kPriorities});
  (void)await(requests.all().size(), taken, processes);
  const auto echo = start_echo(application);
  const Sample end = await(requests.all().size() * kTargetCount, done, processes);
  const double broker_us = (family_cpu_seconds(broker) - broker_before) * 1e6;
  stop(processes);
  stop(*echo);
  check_work(application, requests, Completeness::kEveryRequest);
  check_outputs(application, requests);
  const auto documents = static_cast<double>(requests.documents());
  Measured measured = between(begin, end, documents);
  report.series(kQueue, "journal", "resequencer us").add(measured.cpu_us);
  measured.cpu_us += broker_us / documents;
  return measured;
}

}  // namespace

void measure_queues(const Site& site, const Requests& requests, Report& report) {
  add_cost(report, kQueue, "journal", run_journal(site, requests, report));
  if (site.postgres.empty()) return;
  add_cost(report, kQueue, "postgres", PostgresQueue(site.postgres, requests, Results::kNone).run());
  add_cost(report, kQueue, "postgres, results", PostgresQueue(site.postgres, requests, Results::kReleased).run());
}

}  // namespace reseq::bench
