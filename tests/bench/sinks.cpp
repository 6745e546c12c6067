// What versions and positions cost a sink: the same program with and without them, against the same server.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kafka/admin.h"
#include "kafka/plain_producer.h"
#include "tests/bench/meter.h"
#include "tests/bench/metrics.h"
#include "tests/bench/progress.h"
#include "tests/support/good.h"
#include "tests/support/process.h"

namespace reseq::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Milliseconds kTopicLimit{60'000};
constexpr std::chrono::milliseconds kBetweenLooks{10};
constexpr std::chrono::seconds kSinkStandstillLimit{60};
constexpr int kPartitions = 4;
constexpr std::uint64_t kReleasesPerDocument = 4;
constexpr std::uint64_t kFirstVersion = 1'000'000;
constexpr std::uint64_t kDeletesOneIn = 10;
const std::string kText(240, 'x');

// What a document costs: the sink itself, and all processes of the machine.
struct Cost {
  double per_second = 0;
  double cpu_us = 0;
  double machine_us = 0;
};

struct Way {
  const char* name;
  std::vector<std::string> options;
};

class Server {
 public:
  virtual ~Server() = default;
  [[nodiscard]] virtual const char* name() const = 0;
  // Into a place of that name, which is new.
  [[nodiscard]] virtual std::vector<std::string> command(const std::string& place) const = 0;
  // The first is what it has by itself, the last has nothing.
  [[nodiscard]] virtual std::vector<Way> ways() const = 0;
};

class Postgres final : public Server {
 public:
  explicit Postgres(std::string url) : url_(std::move(url)) {}
  const char* name() const override { return "postgres"; }
  std::vector<std::string> command(const std::string& place) const override {
    return {test::program("reseq-sink-postgres"), "--server", url_, "--table", place};
  }
  std::vector<Way> ways() const override {
    return {{"exactly-once", {}},
            {"at-least-once", {"--delivery", "at_least_once"}},
            {"plain", {"--delivery", "at_least_once", "--versions", "off"}}};
  }

 private:
  std::string url_;
};

class OpenSearch final : public Server {
 public:
  explicit OpenSearch(std::string url) : url_(std::move(url)) {}
  const char* name() const override { return "opensearch"; }
  std::vector<std::string> command(const std::string& place) const override {
    return {test::program("reseq-sink-opensearch"), "--url", url_, "--index", place};
  }
  std::vector<Way> ways() const override { return {{"versions", {}}, {"plain", {"--versions", "off"}}}; }

 private:
  std::string url_;
};

// Releases of documents in turn, so that what is read is spread over all of them.
std::string fill_topic(const Site& site, std::uint64_t records) {
  const std::string topic = "bench.sinks." + std::to_string(Clock::now().time_since_epoch().count());
  const auto admin = test::good(kafka::Admin::open(site.connection()));
  const std::vector<kafka::TopicSpec> topics = {{.name = topic, .partitions = kPartitions},
                                                {.name = topic + ".dead-letter", .partitions = 1}};
  test::good(admin->create_topics(topics, kTopicLimit));
  const auto producer = test::good(kafka::PlainProducer::open(site.connection()));
  const std::uint64_t documents = std::max<std::uint64_t>(1, records / kReleasesPerDocument);
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::string version = std::to_string(kFirstVersion + i);
    // A result and a release in one: --versions off reads the former.
    std::vector<Header> headers = {
        {"reseq-command", "sequence"}, {"reseq-seq", "1"}, {"reseq-target", "search"}, {"reseq-version", version}};
    const bool deletes = i % kDeletesOneIn == kDeletesOneIn - 1;
    if (deletes) headers.push_back({"reseq-op", "delete"});
    const std::string payload = R"({"number":)" + version + R"(,"text":")" + kText + "\"}";
    test::good(producer->send(topic, "document-" + std::to_string(i % documents),
                              deletes ? std::nullopt : std::optional<std::string_view>(payload), headers));
  }
  test::good(producer->flush(kTopicLimit));
  return topic;
}

// The last whole line that it wrote.
std::uint64_t records_read(const std::string& progress_file, nlohmann::json* last = nullptr) {
  std::ifstream file(progress_file);
  std::string found;
  for (std::string line; std::getline(file, line) && !file.eof();) found = line;
  if (found.empty()) return 0;
  const auto parsed = nlohmann::json::parse(found);
  if (last != nullptr) *last = parsed;
  return parsed.at("records").get<std::uint64_t>();
}

struct Look {
  Clock::time_point at;
  double cpu_s = 0;
  double machine_cpu_s = 0;
  std::uint64_t records = 0;
};

Look await_records(std::uint64_t goal, const std::string& progress_file, test::Process& sink) {
  auto moved = Clock::now();
  for (std::uint64_t before = 0;;) {
    check_interrupted();
    if (!sink.running()) throw std::runtime_error("it ended by itself: " + sink.tail());
    const std::uint64_t records = records_read(progress_file);
    const auto now = Clock::now();
    if (records >= goal) return {now, cpu_seconds(sink.pid()), machine_cpu_seconds(), records};
    if (records != before) moved = now;
    before = records;
    if (now - moved > kSinkStandstillLimit) throw std::runtime_error("it stands still: " + sink.tail());
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

Cost run_once(const Site& site, const Server& server, const Way& way, const std::string& topic, std::uint64_t records) {
  static int number = 0;
  const std::string place = "bench_" + std::to_string(++number);
  const std::string progress_file = site.folder + "/" + place + ".jsonl";
  std::vector<std::string> argv = server.command(place);
  argv.insert(argv.end(), {"--bootstrap-servers", site.bootstrap_servers, "--topic", topic, "--group", place,
                           "--dead-letter-topic", topic + ".dead-letter", "--progress-file", progress_file});
  argv.insert(argv.end(), way.options.begin(), way.options.end());
  test::Process sink(argv, site.folder + "/" + place + ".log");
  // Its start and the first assignment of its group are no part of it.
  const Look first = await_records(1, progress_file, sink);
  const Look last = await_records(records, progress_file, sink);
  stop(sink);
  nlohmann::json counts;
  if (records_read(progress_file, &counts) != records || counts.at("rejected") != 0 || counts.at("not_for_us") != 0)
    throw std::runtime_error(std::string(server.name()) + " " + way.name + " counts " + counts.dump());
  const auto measured = static_cast<double>(last.records - first.records);
  if (measured <= 0) throw std::runtime_error("too few records to measure a sink with");
  return {measured / std::chrono::duration<double>(last.at - first.at).count(),
          (last.cpu_s - first.cpu_s) * 1e6 / measured, (last.machine_cpu_s - first.machine_cpu_s) * 1e6 / measured};
}

void measure_sink(const Site& site, const Server& server, const Sizes& sizes, Report& report) {
  const std::string part = server.name();
  const std::string topic = fill_topic(site, sizes.releases);
  const std::vector<Way> ways = server.ways();
  (void)run_once(site, server, ways.back(), topic, sizes.releases);  // a server that was just started is slow
  for (int round = 0; round < sizes.rounds; ++round)
    for (const Way& way : ways) {
      const Cost cost = run_once(site, server, way, topic, sizes.releases);
      report.series(part, way.name, "per second").add(cost.per_second);
      report.series(part, way.name, "CPU us each").add(cost.cpu_us);
      report.series(part, way.name, "machine us each").add(cost.machine_us);
      std::fprintf(stderr, "%s %s: %.0f/s, %.2f us, %.2f us of the machine\n", server.name(), way.name, cost.per_second,
                   cost.cpu_us, cost.machine_us);
    }
  const auto of = [&](const char* way, const char* unit) { return report.find(part, way, unit); };
  for (std::size_t i = 0; i + 1 < ways.size(); ++i) {
    const std::string name = part + "_" + ways[i].name;
    report.add_ratio(name + "_throughput_to_plain", of(ways[i].name, "per second"), of(ways.back().name, "per second"),
                     Goal::kAtLeast, 0.67);
    report.add_ratio(name + "_cpu_to_plain", of(ways[i].name, "CPU us each"), of(ways.back().name, "CPU us each"),
                     Goal::kAtMost, 1.5);
  }
}

}  // namespace

void measure_sinks(const Site& site, const Sizes& sizes, Report& report) {
  if (!site.postgres.empty()) measure_sink(site, Postgres(site.postgres), sizes, report);
  if (!site.opensearch.empty()) measure_sink(site, OpenSearch(site.opensearch), sizes, report);
}

}  // namespace reseq::bench
