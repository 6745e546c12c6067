// Latency of one hop: SEQUENCE acknowledged by its broker -> output seen by a read_committed reader, at a steady rate,
// beside a bare transaction of one record in the same run: begun -> record seen.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kafka/admin.h"
#include "kafka/group_consumer.h"
#include "tests/bench/clocked_producer.h"
#include "tests/bench/metrics.h"
#include "tests/bench/output_check.h"
#include "tests/bench/progress.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::bench {

namespace {

constexpr std::array<const char*, 2> kTargetNames = {"search", "catalogue"};
constexpr std::chrono::microseconds kBetweenDocuments{1'000};
constexpr std::chrono::microseconds kBetweenDocumentsOfMany{5'000};  // 400 records a second
constexpr std::size_t kWarmUpShare = 5;  // one in so many documents of a round comes before what is measured
constexpr std::chrono::seconds kSeenLimit{60};
constexpr Milliseconds kCallLimit{30'000};
const std::string kHop = "hop";
const std::string kBareTransaction = "bare transaction";

using Moments = std::vector<Moment>;  // by document

// Follows a topic and notes when it sees the record of each document.
class Watcher {
 public:
  Watcher(const Site& site, std::string topic, std::size_t documents)
      : topic_(std::move(topic)),
        seen_(documents),
        thread_([this, &site](const std::stop_token& stopped) { watch(site, stopped); }) {}

  [[nodiscard]] std::int64_t seen(std::size_t document) const { return seen_[document]; }

  void await(std::size_t document) const {
    const std::int64_t until = now_ns() + kSeenLimit / std::chrono::nanoseconds(1);
    while (seen(document) == 0) {
      check_interrupted();
      if (now_ns() > until) throw std::runtime_error(topic_ + ": record " + std::to_string(document) + " is missing");
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

 private:
  void watch(const Site& site, const std::stop_token& stopped) {
    auto reader = test::good(kafka::GroupConsumer::open(site.connection()));
    (void)test::good(reader->assign_all(topic_, {}, kCallLimit));
    while (!stopped.stop_requested()) {
      const auto record = test::good(reader->poll(Milliseconds(100)));
      if (!record) continue;
      const std::string id(record->key.value_or(""));
      seen_.at(std::stoull(id.substr(id.find('-') + 1))) = now_ns();
    }
  }

  std::string topic_;
  Moments seen_;
  std::jthread thread_;
};

double percentile(std::vector<double> sorted, double part) {
  std::sort(sorted.begin(), sorted.end());
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(part * static_cast<double>(sorted.size())))];
}

void add(Report& report, const std::string& part, const std::string& contestant, const std::vector<double>& ms) {
  const double half = percentile(ms, 0.5);
  const double most = percentile(ms, 0.99);
  report.series(part, contestant, "ms p50").add(half);
  report.series(part, contestant, "ms p99").add(most);
  std::fprintf(stderr, "%s %s: p50 %.1f ms, p99 %.1f ms\n", part.c_str(), contestant.c_str(), half, most);
}

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
    add(report, kHop, kBareTransaction, ms);
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
    add(report, part_, name_, ms);
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
