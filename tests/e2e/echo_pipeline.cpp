#include "tests/e2e/echo_pipeline.h"

#include <chrono>
#include <deque>
#include <optional>
#include <random>
#include <sstream>
#include <utility>
#include <vector>

#include "kafka/group_consumer.h"
#include "kafka/plain_producer.h"
#include "tests/e2e/source.h"

namespace reseq::test {

namespace {

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct EchoedResult {
  std::string key;
  std::optional<std::string> payload;
  std::vector<std::pair<std::string, std::string>> headers;
};

// What is said of a piece of work that could not be done.
void fail(EchoedResult& result, bool of_target) {
  result.payload.reset();
  result.headers.emplace_back("reseq-command", "fail");
  result.headers.emplace_back("reseq-failure", of_target ? "transient" : "unknown");
  if (of_target) result.headers.emplace_back("reseq-failure-scope", "universal");
  result.headers.emplace_back("reseq-error", of_target ? "connection refused" : "it cannot be parsed");
}

// One result per target of a work record, with all its headers copied: the contract of a pipeline. `troubled` may be
// null.
std::vector<EchoedResult> results_of(const kafka::PlainRecord& work, const std::string* troubled, bool is_down) {
  if (work.key && work.key->starts_with(kSilentPrefix)) return {};
  std::vector<std::pair<std::string, std::string>> headers;
  std::string targets;
  for (const Header& header : work.headers) {
    headers.emplace_back(header.name, header.value.value_or(""));
    if (header.name == "reseq-targets") targets = header.value.value_or("");
  }
  std::vector<EchoedResult> results;
  std::istringstream names(targets);
  for (std::string target; std::getline(names, target, ',');) {
    EchoedResult result{std::string(*work.key), std::nullopt, headers};
    if (work.payload) result.payload = std::string(*work.payload);
    result.headers.emplace_back("reseq-target", target);
    const bool is_bad = result.key.starts_with(kBadPrefix);
    if (troubled != nullptr && target == *troubled && (is_down || is_bad))
      fail(result, !is_bad);
    else
      result.headers.emplace_back("reseq-command", "sequence");
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace

EchoPipeline::EchoPipeline(kafka::Connection connection, std::string application_id, std::uint64_t seed)
    : connection_(std::move(connection)),
      application_id_(std::move(application_id)),
      seed_(seed),
      active_at_ms_(steady_ms()),
      thread_([this] { run(); }) {}

EchoPipeline::~EchoPipeline() {
  stop_ = true;
  thread_.join();
}

void EchoPipeline::set_down(const std::string& target, bool down) {
  if (target_ == nullptr) {
    target_name_ = target;
    target_ = &target_name_;
  }
  down_ = down;
}

std::int64_t EchoPipeline::idle_ms() const {
  return steady_ms() - active_at_ms_;
}

void EchoPipeline::run() {
  const auto fail = [this](const Error& error) {
    failure_ = error.message;
    failed_ = true;
  };
  kafka::GroupConsumerSettings settings;
  settings.group_id = application_id_ + ".pipeline";
  settings.topics = {application_id_ + ".work"};
  auto consumer = kafka::GroupConsumer::join(connection_, settings);
  if (!consumer) return fail(consumer.error());
  auto producer = kafka::PlainProducer::open(connection_);
  if (!producer) return fail(producer.error());

  std::mt19937_64 random(seed_);
  std::deque<EchoedResult> waiting;
  const std::string commands = application_id_ + ".commands";
  while (!stop_) {
    auto polled = consumer.value()->poll(Milliseconds(waiting.empty() ? 50 : 0));
    if (!polled) return fail(polled.error());
    if (polled.value()) {
      active_at_ms_ = steady_ms();
      for (EchoedResult& result : results_of(*polled.value(), target_, down_)) {
        if (random() % 20 == 0) waiting.push_back(result);  // sent twice
        waiting.push_back(std::move(result));
      }
      if (waiting.size() < 2000) continue;
    }
    // Out of order: any of those that wait goes next.
    for (std::size_t sent = 0; sent < 200 && !waiting.empty(); ++sent) {
      std::swap(waiting.front(), waiting[random() % waiting.size()]);
      const EchoedResult& result = waiting.front();
      std::vector<Header> headers;
      for (const auto& [name, value] : result.headers) headers.push_back({name, value});
      auto queued = producer.value()->send(commands, result.key, result.payload, headers);
      if (!queued) return fail(queued.error());
      waiting.pop_front();
      ++results_;
      active_at_ms_ = steady_ms();
    }
    producer.value()->poll(Milliseconds(0));
  }
}

}  // namespace reseq::test
