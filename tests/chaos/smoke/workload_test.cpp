// The workload of the chaos runs on a real broker, without any fault but its own: what comes out is what the plan says.
// The judge of the chaos runs looks closer; this shows that producers, pipeline and plan mean the same.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "codec/header_names.h"
#include "kafka/admin.h"
#include "tests/chaos/workload/drain.h"
#include "tests/chaos/workload/lag_watch.h"
#include "tests/chaos/workload/plan.h"
#include "tests/chaos/workload/producers.h"
#include "tests/chaos/workload/treatment.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/e2e/resequencer_run.h"
#include "tests/support/broker.h"

namespace reseq::chaos {
namespace {

using std::chrono::milliseconds;
using test::wait_until;
using testing::IsEmpty;

using Order = std::pair<std::uint32_t, std::uint64_t>;  // epoch, sequence

// What was asked for of one document; its results may leave more targets with a newer order, by what the pipeline adds.
struct Wanted {
  std::map<std::string, Order> newest;  // by target
  std::map<Order, std::set<std::optional<std::string>>> payloads;
};

void ask(Wanted& document, const judge::Asked& asked) {
  const Order order(asked.epoch.value_or(0), asked.sequence);
  document.payloads[order].insert(asked.payload);
  std::set<std::string> names;
  if (asked.targets) names.insert(asked.targets->begin(), asked.targets->end());
  const bool unknown = document.newest.empty();
  for (const config::Target& target : targets())
    if (!asked.targets && (!target.optional || (asked.removal && unknown))) names.insert(target.name);
  if (!asked.targets && asked.removal)
    for (const auto& [name, newest] : document.newest) names.insert(name);
  for (const std::string& name : names) document.newest[name] = std::max(document.newest[name], order);
}

std::map<std::string, Wanted> wanted_of(const Plan& plan, const std::vector<std::uint64_t>& written) {
  std::map<std::string, Wanted> wanted;
  for (std::uint32_t producer = 0; producer < written.size(); ++producer)
    for (std::uint64_t place = 0; place < written[producer]; ++place)
      if (const auto asked = plan.asked(plan.number(producer, place))) ask(wanted[asked->id], *asked);
  return wanted;
}

std::string value_of(const kafka::PlainRecord& record, std::string_view name) {
  std::string value;
  for (const Header& header : record.headers)
    if (header.name == name) value = header.value.value_or("");
  return value;
}

Order order_of(const kafka::PlainRecord& record) {
  return {static_cast<std::uint32_t>(std::stoul(value_of(record, codec::header::kEpoch))),
          std::stoull(value_of(record, codec::header::kSeq))};
}

// Excused at this order, or given up at a newer one.
bool may_be_missing(const Plan& plan, const std::string& id, const std::string& target, const Wanted& wanted) {
  return std::any_of(wanted.payloads.lower_bound(wanted.newest.at(target)), wanted.payloads.end(),
                     [&](const auto& one) {
                       return excused(plan.settings().seed, {id, target, one.first.first, one.first.second});
                     });
}

// One line for each document that the output does not hold as it must, and for each release that nobody asked for.
std::vector<std::string> wrong_in(const test::ResequencerRun& run, const std::string& target, const Plan& plan,
                                  const std::map<std::string, Wanted>& wanted) {
  std::vector<std::string> wrong;
  std::map<std::string, Order> released;
  test::read_all(run.connection(), run.topic("output." + target), [&](const kafka::PlainRecord& record) {
    const std::string id(record.key.value_or(""));
    const Order order = order_of(record);
    const auto document = wanted.find(id);
    std::optional<std::string> payload;
    if (record.payload) payload = std::string(*record.payload);
    const bool known = document != wanted.end() && document->second.payloads.contains(order) &&
                       document->second.payloads.at(order).contains(payload);
    if (!known) wrong.push_back(id + ": nobody asked for the release of " + std::to_string(order.second));
    if (released.contains(id) && order < released[id]) wrong.push_back(id + ": an older one behind a newer one");
    released[id] = order;
  });
  for (const auto& [id, document] : wanted) {
    if (!document.newest.contains(target) || may_be_missing(plan, id, target, document)) continue;
    const Order& newest = document.newest.at(target);
    if (!released.contains(id) || released[id] < newest)
      wrong.push_back(id + ": " + std::to_string(newest.second) + " was not released");
  }
  std::cout << "target=" << target << " documents_released=" << released.size() << std::endl;
  return wrong;
}

// What is written to be refused is refused for that reason.
std::map<std::string, int> letters_by_wrong_reason(const test::ResequencerRun& run, int& expected) {
  std::map<std::string, int> wrong;
  test::read_all(run.connection(), run.topic("dead-letter"), [&](const kafka::PlainRecord& record) {
    const std::string reason = value_of(record, kExpectedReason);
    if (reason.empty()) return;
    ++expected;
    if (value_of(record, codec::header::kReason) != reason)
      ++wrong[reason + ": " + value_of(record, codec::header::kReason)];
  });
  return wrong;
}

class Pipelines {
 public:
  Pipelines(const test::ResequencerRun& run, std::uint64_t seed) : run_(run), seed_(seed) {
    for (std::size_t i = 0; i < processes_.size(); ++i) start(i);
  }
  void start(std::size_t which) {
    const std::vector<std::string> argv = {test::program("reseq-chaos-pipeline"),
                                           "--bootstrap-servers",
                                           run_.connection().bootstrap_servers,
                                           "--application",
                                           run_.application_id(),
                                           "--seed",
                                           std::to_string(seed_)};
    processes_[which] = std::make_unique<test::Process>(argv, logs_.path() + "/pipeline-" + std::to_string(which));
  }
  void kill(std::size_t which) {
    processes_[which]->signal(SIGKILL);
    EXPECT_EQ(processes_[which]->wait(10'000), 128 + SIGKILL);
  }
  void stop() {
    for (auto& process : processes_) process->signal(SIGTERM);
    for (auto& process : processes_) EXPECT_EQ(process->wait(30'000), 0) << process->tail();
  }

 private:
  const test::ResequencerRun& run_;
  std::uint64_t seed_;
  test::TempDir logs_;
  std::array<std::unique_ptr<test::Process>, 2> processes_;
};

// Records of work that the pipeline has done with, as far as it has committed them.
std::int64_t answered(kafka::Admin& admin, const test::ResequencerRun& run) {
  std::this_thread::sleep_for(milliseconds(250));  // each question goes to the brokers several times
  const auto committed = admin.committed(pipeline_group(run.application_id()), run.topic("work"), Milliseconds(5'000));
  std::int64_t sum = 0;
  if (!committed) return sum;
  for (const kafka::PlainOffset& next : committed.value()) sum += std::max<std::int64_t>(next.offset.value(), 0);
  return sum;
}

TEST(Workload, EndsAsThePlanSaysWhileItsPipelineIsKilled) {
  const std::uint64_t seed = test::number_from("RESEQ_SEED", 20260606);
  const std::uint64_t requests = test::number_from("RESEQ_CHAOS_REQUESTS", 2'400);
  const std::uint64_t rate = test::number_from("RESEQ_CHAOS_RATE", 500);
  const test::Broker& broker = test::Broker::shared();
  test::ResequencerRun run(broker.bootstrap_servers(), test::unique_name("chaos"), {}, targets_toml());
  const Plan plan({.seed = seed, .producers = 3, .partitions = 4});

  auto resequencer = run.start(1);
  Pipelines pipelines(run, seed);
  Producers producers(
      plan, {.connection = run.connection(), .application_id = run.application_id(), .requests_per_second = rate});
  auto admin = kafka::Admin::open(run.connection());
  ASSERT_TRUE(admin) << admin.error().message;
  for (int kills = 0; kills < 2; ++kills) {
    const std::int64_t before = answered(*admin.value(), run);
    ASSERT_TRUE(wait_until(milliseconds(90'000), [&] { return answered(*admin.value(), run) > before; }));
    pipelines.kill(0);
    pipelines.start(0);
  }
  ASSERT_TRUE(wait_until(milliseconds(60'000), [&] { return producers.total() >= requests; }));
  const Result<> stopped = producers.stop(Milliseconds(30'000));
  ASSERT_TRUE(stopped) << stopped.error().message;

  auto drain = Drain::open(run.connection(), run.application_id());
  ASSERT_TRUE(drain) << drain.error().message;
  std::string waits;
  const auto at_rest = [&] {
    std::this_thread::sleep_for(milliseconds(250));  // each question goes to the brokers many times
    const auto asked = drain.value()->waits_for();
    waits = asked ? asked.value() : asked.error().message;
    return waits.empty();
  };
  ASSERT_TRUE(wait_until(milliseconds(90'000), at_rest)) << waits << resequencer->tail();
  pipelines.stop();
  ASSERT_TRUE(wait_until(milliseconds(30'000), at_rest)) << waits;
  resequencer->signal(SIGTERM);
  ASSERT_EQ(resequencer->wait(30'000), 0) << resequencer->tail();

  std::cout << "seed=" << seed << " requests=" << producers.total() << std::endl;
  const auto wanted = wanted_of(plan, producers.written());
  for (const config::Target& target : targets())
    EXPECT_THAT(wrong_in(run, target.name, plan, wanted), IsEmpty()) << target.name;
  int expected = 0;
  EXPECT_THAT(letters_by_wrong_reason(run, expected), IsEmpty());
  EXPECT_GT(expected, 0);
}

}  // namespace
}  // namespace reseq::chaos
