// Documents that change twice within a back-off; of one in a hundred the first change fails once. As the resequencer
// tries it again, and as Spring Kafka's non-blocking retries do, with a topic of retries. What a sink has in the end
// that writes whatever comes, what a retry writes, and CPU time of the process with its worker, and of the broker.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kafka/admin.h"
#include "tests/bench/failures.h"
#include "tests/bench/meter.h"
#include "tests/bench/output_check.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

constexpr Failing kFailing{.every = 100};
constexpr std::uint64_t kAgainAfter = 100;          // documents between the two changes of one
constexpr std::uint64_t kBackoffMs = 1'000;         // the default of both
constexpr double kUncountedPart = 0.1;              // part of the requests: processes start, caches fill, Java compiles
constexpr std::size_t kRequestsToMeasure = 50'000;  // fewer are done before one looks twice; their figures tell nothing
constexpr Milliseconds kRetryTopicsLimit{30'000};
const std::string kTwoChanges = "two changes";
const std::string kRetryTopics = "retry-topics";

struct Use {
  Sample sample;  // of the contestant and its worker
  double broker_s = 0;
};

class Comparison {
 public:
  Comparison(const Site& site, const Requests& requests, Contestant contestant, const std::string& settings)
      : requests_(requests),
        contestant_(std::move(contestant)),
        application_(site, contestant_.name, Mode::kLife, {.settings = settings}),
        admin_(test::good(kafka::Admin::open(site.connection()))),
        broker_(listener(site.bootstrap_servers)) {
    requests.send(site.connection(), application_.topic("requests"));
  }

  [[nodiscard]] const Application& application() const { return application_; }

  [[nodiscard]] std::uint64_t appended(const std::string& role) const {
    return bench::appended(*admin_, application_.topic(role));
  }

  // `worker`: the process that does the work; none: the contestant does.
  void run(test::Process* worker, Report& report) {
    Progress taken(application_, "requests");
    const Processes processes = start(contestant_, application_);
    const std::size_t total = requests_.all().size();
    const double uncounted = total < kRequestsToMeasure ? 0 : kUncountedPart;
    const auto first = static_cast<std::uint64_t>(static_cast<double>(total) * uncounted);
    (void)await(first, taken, processes);
    const Use begin = look(taken, processes, worker);
    const Use end = await_last(taken, processes, worker);
    stop(processes);
    if (worker != nullptr) stop(*worker);
    const auto counted = static_cast<double>(total - begin.sample.done);
    add_cost(report, kTwoChanges, contestant_.name, between(begin.sample, end.sample, counted));
    report.series(kTwoChanges, contestant_.name, "broker us each").add((end.broker_s - begin.broker_s) * 1e6 / counted);
    add(report, "end old", static_cast<double>(documents_that_end_old(application_, requests_)));
  }

  void add(Report& report, const std::string& unit, double value) {
    report.series(kTwoChanges, contestant_.name, unit).add(value);
    std::fprintf(stderr, "%s %s: %.3f %s\n", kTwoChanges.c_str(), contestant_.name.c_str(), value, unit.c_str());
  }

 private:
  Use look(Progress& taken, const Processes& processes, const test::Process* worker) const {
    Use use{sample(taken, processes), family_cpu_seconds(broker_)};
    if (worker != nullptr) use.sample.cpu_s += cpu_seconds(worker->pid());
    return use;
  }

  // Nobody says which result was the last one: when nothing more comes.
  Use await_last(Progress& taken, const Processes& processes, const test::Process* worker) const {
    (void)await(requests_.all().size(), taken, processes);
    Use end = look(taken, processes, worker);
    const auto grew = [&] { end = look(taken, processes, worker); };
    bench::await_last(
        requests_.documents(), [&] { return appended("output.search"); }, grew, processes);
    return end;
  }

  const Requests& requests_;
  Contestant contestant_;
  Application application_;
  std::unique_ptr<kafka::Admin> admin_;
  pid_t broker_;
};

void measure_ours(const Site& site, const Requests& requests, Report& report) {
  Comparison ours(site, requests, resequencer(site), kJournal + retrying(kBackoffMs));
  const auto echo = start_echo(ours.application(), 0, {.failing = kFailing});
  ours.run(echo.get(), report);
  const Series& old = *report.find(kTwoChanges, kResequencer, "end old");
  if (old.largest() > 0) throw std::runtime_error("an old result has passed a newer one");
}

void measure_theirs(const Site& site, const Requests& requests, Report& report) {
  const Contestant contestant{kRetryTopics, true, [](const Application& application, int) -> std::vector<std::string> {
                                return {application.site().retry_topics,
                                        "--bootstrap-servers",
                                        application.site().bootstrap_servers,
                                        "--application",
                                        application.id(),
                                        "--fail-every",
                                        std::to_string(kFailing.every),
                                        "--backoff-ms",
                                        std::to_string(kBackoffMs),
                                        "--partitions",
                                        std::to_string(application.partitions())};
                              }};
  Comparison theirs(site, requests, contestant, "");
  theirs.run(nullptr, report);
  const auto failed = static_cast<double>(kFailing.count(requests.documents()));
  theirs.add(report, "records a retry", static_cast<double>(theirs.appended("requests-retry")) / failed);
  if (theirs.appended("requests-dlt") > 0) throw std::runtime_error("a retry has failed");
  const std::vector<std::string> theirs_alone = {theirs.application().topic("requests-retry"),
                                                 theirs.application().topic("requests-dlt")};
  const auto admin = test::good(kafka::Admin::open(site.connection()));
  (void)test::good(admin->delete_topics(theirs_alone, kRetryTopicsLimit));
}

}  // namespace

void measure_retry_topics(const Site& site, std::uint64_t documents, Report& report) {
  const Requests requests({.documents = documents, .again_after = kAgainAfter});
  measure_ours(site, requests, report);
  if (!site.retry_topics.empty()) measure_theirs(site, requests, report);
}

}  // namespace reseq::bench
