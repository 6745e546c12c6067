// Latency of one hop: SEQUENCE acknowledged by its broker -> output seen by a read_committed reader, at a steady rate,
// beside a bare transaction of one record in the same run: begun -> record seen.
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kafka/admin.h"
#include "tests/bench/clocked_producer.h"
#include "tests/bench/metrics.h"
#include "tests/bench/output_check.h"
#include "tests/bench/progress.h"
#include "tests/bench/watcher.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

constexpr std::array<const char*, 2> kTargetNames = {"search", "catalogue"};
constexpr std::chrono::microseconds kBetweenDocuments{1'000};
constexpr std::chrono::microseconds kBetweenDocumentsOfMany{5'000};  // 400 records a second
constexpr std::size_t kWarmUpShare = 5;  // one in so many documents of a round comes before what is measured
constexpr Milliseconds kCallLimit{30'000};
const std::string kHop = "hop";
const std::string kBareTransaction = "bare transaction";

// One record per transaction, one after the other.
class BareTransactions {
 public:
  BareTransactions(const Site& site, std::size_t transactions)
      : topic_(test::unique_name("bench-bare")), producer_(site.bootstrap_servers, topic_) {
    const std::array topics = {kafka::TopicSpec{.name = topic_, .partitions = 4}};
    (void)test::good(test::good(kafka::Admin::open(site.connection()))->create_topics(topics, kCallLimit));
    watcher_ = std::make_unique<Watcher>(site, topic_, transactions);
  }

  void measure(std::size_t transactions, Report& report) {
    std::vector<double> ms;
    for (const std::size_t end = next_ + transactions; next_ < end; ++next_) {
      const std::int64_t begun = now_ns();
      producer_.begin();
      producer_.send({.topic = topic_, .key = id_of(next_), .payload = payload_of({next_, 1}), .headers = {}}, nullptr);
      producer_.commit();
      watcher_->await(next_);
      ms.push_back(static_cast<double>(watcher_->seen(next_) - begun) / 1e6);
    }
    add_latencies(report, kHop, kBareTransaction, ms);
  }

 private:
  std::string topic_;
  ClockedProducer producer_;
  std::unique_ptr<Watcher> watcher_;
  std::size_t next_ = 0;
};

// A contestant whose documents are all registered and wait for results.
class Hop {
 public:
  Hop(const Site& site, const Contestant& contestant, const Requests& requests, Layout layout = {},
      std::chrono::microseconds between_documents = kBetweenDocuments, std::string part = kHop)
      : part_(std::move(part)),
        name_(contestant.name),
        between_documents_(between_documents),
        requests_(requests),
        application_(site, contestant.name, Mode::kLife, layout),
        processes_(start(contestant, application_)),
        producer_(site.bootstrap_servers, ""),
        appended_(requests.all().size() * kTargetNames.size()) {
    for (const char* target : kTargetNames)
      watchers_.push_back(
          std::make_unique<Watcher>(site, application_.topic(std::string("output.") + target), requests.all().size()));
    requests.send(site.connection(), application_.topic("requests"));
    Progress progress(application_, "requests");
    (void)bench::await(requests.all().size(), progress, processes_);
  }

  void measure(std::size_t documents, Report& report) {
    const std::size_t begin = next_;
    auto due = std::chrono::steady_clock::now();
    for (const std::size_t end = begin + documents; next_ < end; ++next_) {
      std::this_thread::sleep_until(due += between_documents_);
      for (std::size_t t = 0; t < kTargetNames.size(); ++t) send_result(t);
    }
    producer_.flush();  // every acknowledgement has its time
    std::vector<double> ms;
    // Fetches that were asleep and connections that are new are no part of a steady rate.
    for (std::size_t document = begin + documents / kWarmUpShare; document < next_; ++document)
      for (std::size_t t = 0; t < kTargetNames.size(); ++t) {
        watchers_[t]->await(document);
        ms.push_back(static_cast<double>(watchers_[t]->seen(document) - appended(document, t)) / 1e6);
      }
    add_latencies(report, part_, name_, ms);
  }

  void finish() {
    stop(processes_);
    check_outputs(application_, requests_);
  }

 private:
  [[nodiscard]] Moment& appended(std::size_t document, std::size_t target) {
    return appended_[document * kTargetNames.size() + target];
  }

  void send_result(std::size_t target) {
    const std::array headers = {Header{"reseq-command", "sequence"}, Header{"reseq-seq", "1"},
                                Header{"reseq-epoch", "0"}, Header{"reseq-target", kTargetNames[target]}};
    producer_.send({.topic = application_.topic("commands"),
                    .key = id_of(next_),
                    .payload = payload_of({next_, 1}),
                    .headers = headers},
                   &appended(next_, target));
  }

  std::string part_;
  std::string name_;
  std::chrono::microseconds between_documents_;
  const Requests& requests_;
  Application application_;
  Processes processes_;
  ClockedProducer producer_;
  Moments appended_;  // by document and target
  std::vector<std::unique_ptr<Watcher>> watchers_;
  std::size_t next_ = 0;
};

void add_metric(Report& report, const char* name, const std::string& unit, double target) {
  report.add_ratio(name, report.find(kHop, kResequencer, unit), report.find(kHop, kBareTransaction, unit),
                   Goal::kAtMost, target);
}

}  // namespace

void measure_hop(const Site& site, const Sizes& sizes, Report& report) {
  const auto rounds = static_cast<std::size_t>(sizes.rounds);
  const Requests requests({.documents = sizes.hop_warm_up + rounds * sizes.hop_documents});
  // One contestant after the other, and bare transactions beside each: one that waits for its turn would not be idle.
  for (const Contestant& contestant : contestants(site)) {
    if (!contestant.releases || contestant.name == kStreamsInMemory) continue;
    BareTransactions bare(site, rounds * sizes.bare_transactions);
    Hop hop(site, contestant, requests);
    // The broker, a JVM, compiles what small transactions need of it while it runs: the first need three times as long.
    Report warm_up;
    hop.measure(sizes.hop_warm_up, warm_up);
    for (std::size_t round = 0; round < rounds; ++round) {
      bare.measure(sizes.bare_transactions, report);
      hop.measure(sizes.hop_documents, report);
    }
    hop.finish();
  }
  add_metric(report, "hop_p50_to_bare_transaction", "ms p50", 1.7);
  add_metric(report, "hop_p99_to_bare_transaction", "ms p99", 3);
}

void measure_hop_over(int partitions, const Site& site, const Sizes& sizes, Report& report) {
  const auto rounds = static_cast<std::size_t>(sizes.rounds);
  const Requests requests({.documents = (rounds + 1) * sizes.hop_documents});
  Hop hop(site, resequencer(site), requests, {.partitions = partitions}, kBetweenDocumentsOfMany, hop_over(partitions));
  Report warm_up;
  hop.measure(sizes.hop_documents, warm_up);
  for (std::size_t round = 0; round < rounds; ++round) hop.measure(sizes.hop_documents, report);
  hop.finish();
}

std::string hop_over(int partitions) {
  return "hop over " + std::to_string(partitions) + " partitions";
}

}  // namespace reseq::bench
