#include "tests/triage/subject.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kafka/librdkafka_cluster.h"
#include "runtime/application/clients.h"
#include "tests/support/good.h"

namespace reseq::triage {

namespace {

constexpr Milliseconds kFeedLimit{30'000};
constexpr Milliseconds kCloseLimit{5'000};
constexpr std::uint64_t kTopicBytesMax = 1'000'000;
constexpr std::uint64_t kMapBytes = std::uint64_t{1} << 20U;

using test::good;

config::Settings settings_of(const MockKafka& kafka, const std::string& folder) {
  config::Settings settings;
  settings.application_id = "triage";
  settings.bootstrap_servers = kafka.bootstrap_servers();
  settings.state_dir = folder;
  settings.session_timeout_ms = 6'000;
  settings.transaction_timeout_ms = kTransactionTimeout.value();
  settings.socket_timeout_ms = kSocketTimeout.value();
  settings.targets = {{.name = "search"}};
  return settings;
}

// What a real broker would have told; the mock cannot be asked for the settings of a topic.
void describe_topics(runtime::Application& application) {
  application.cluster_id = "mock";
  application.partitions = 1;
  application.record_bytes_max.assign(application.topics.names().size(), kTopicBytesMax);
  application.message_bytes_largest = kTopicBytesMax;
  application.message_bytes_least_written = kTopicBytesMax;
  application.delete_retention = Milliseconds(std::int64_t{7} * 24 * 3600 * 1000);
}

}  // namespace

Subject::Subject(int brokers) : kafka_(brokers) {
  const config::Settings settings = settings_of(kafka_, folder_.path());
  application_ = std::make_unique<runtime::Application>(settings);
  describe_topics(*application_);
  for (const std::string& name : application_->topics.names()) kafka_.create_topic(name);
  kafka::Connection connection;
  connection.bootstrap_servers = kafka_.bootstrap_servers();
  connection.log = [](int, std::string_view, std::string_view) {};
  feeder_ = good(kafka::PlainProducer::open(connection));
  shelf_ = std::make_unique<runtime::Shelf>(runtime::instance_path(settings), "boot", store::DiskSettings{kMapBytes});
  cluster_ = good(kafka::open_cluster(runtime::cluster_settings_of(*application_, 0)));
}

Subject::~Subject() {
  stop();
}

void Subject::start() {
  ended_.reset();
  worker_ = std::make_unique<runtime::Worker>(*application_, *cluster_, clock_, *shelf_, [] { return HashKey{}; });
  clock_.settle();
}

void Subject::stop() {
  if (!worker_) return;
  worker_->close(kCloseLimit);
  worker_.reset();
}

void Subject::feed() {
  ++fed_;
  const std::string number = std::to_string(fed_);
  const std::vector<Header> headers = {{"reseq-seq", number}};
  good(feeder_->send(topic(Role::kRequests), "document", number, headers));
  good(feeder_->flush(kFeedLimit));
}

bool Subject::run_until(const std::function<bool()>& holds, Milliseconds limit) {
  const std::int64_t until = clock_.steady().value() + limit.value();
  while (!holds()) {
    if (ended_ || clock_.steady().value() > until) return false;
    if (auto stepped = worker_->step(); !stepped) ended_ = stepped.error();
  }
  return true;
}

std::string Subject::transactional_id() const {
  return runtime::cluster_settings_of(*application_, 0).transactional_id;
}

bool Subject::at(runtime::Step step) const {
  return worker_->transaction() != nullptr && worker_->transaction()->next() == step;
}

bool Subject::caught_up() const {
  if (worker_->transaction() != nullptr || worker_->tasks().size() != 1) return false;
  const runtime::PartitionTask& task = *worker_->tasks().front();
  if (task.phase() != runtime::Phase::kRunning || !task.store().meta()) return false;
  const auto& positions = task.store().meta()->positions;
  return std::any_of(positions.begin(), positions.end(),
                     [this](const InputPosition& p) { return p.role == Role::kRequests && p.next.value() >= fed_; });
}

bool Subject::catch_up() {
  return run_until([this] { return caught_up(); }, kPatience);
}

std::uint64_t Subject::takeovers() const {
  const auto& rebuilds = totals().rebuilds;
  return std::accumulate(rebuilds.begin(), rebuilds.end(), totals().reuses);
}

std::string Subject::parked_because() const {
  for (const auto& task : worker_->tasks())
    if (task->phase() == runtime::Phase::kParked) return task->parked_reason();
  return {};
}

}  // namespace reseq::triage
