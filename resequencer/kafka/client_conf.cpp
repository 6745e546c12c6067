#include "kafka/client_conf.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kafka/prefetch.h"
#include "kafka/version_gate.h"

namespace reseq::kafka {

namespace {

constexpr std::uint64_t kFetchBytesMax = 32 * 1024 * 1024;
constexpr std::uint64_t kFetchPartitionBytesMax = 1024 * 1024;
constexpr std::uint64_t kFetchLittleBytes = 64 * 1024;  // some hundred records
// A response holds the fetched bytes and its own frame.
constexpr std::uint64_t kResponseSlack = 64 * 1024;
// The largest response is also the most that a batch may unpack to: librdkafka to 2.8 makes the buffer of a zstd batch
// three times as large until it suffices, and fails for good above that limit.
constexpr std::uint64_t kUnpackSteps = 3;
constexpr std::uint64_t kResponseBytesMax = INT32_MAX;  // librdkafka's own bound
// How long a broker holds an empty fetch back, and with it the fetch of a partition that was assigned meanwhile.
constexpr Milliseconds kFetchWait{100};
// Of who reads a few records here and some there.
constexpr Milliseconds kShortFetchWait{5};

void log_line(const rd_kafka_t* client, int level, const char* facility, const char* text) {
  // A consumer that has failed is replaced, and whoever replaces it says so.
  if (rd_kafka_type(client) == RD_KAFKA_CONSUMER && std::string_view(facility) == "FATAL") level = kLogWarning;
  context_of(rd_kafka_opaque(client)).log(level, facility, text);
}

// What librdkafka tells the application of its connections, once the client is served. Each failure was in the log
// before (`FAIL`, an error); that no broker is left is said here alone. librdkafka goes on trying.
void error_line(rd_kafka_t*, int code, const char* reason, void* opaque) {
  ClientContext& context = context_of(opaque);
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && context.closes_idle) return;
  context.log(kLogWarning, "ERROR", reason);
}

}  // namespace

ClientConf::ClientConf(const Connection& connection, ClientContext& context) : conf_(rd_kafka_conf_new()) {
  if (!context.log) context.log = connection.log ? connection.log : log_to_stderr;  // shared: set before it is used
  rd_kafka_conf_set_opaque(conf_.get(), &context);
  rd_kafka_conf_set_log_cb(conf_.get(), log_line);
  rd_kafka_conf_set_error_cb(conf_.get(), error_line);
  // librdkafka's defaults since 2.0; a broker has to prove that it is the one we wanted to talk to.
  set_if_known("enable.ssl.certificate.verification", "true");
  set_if_known("ssl.endpoint.identification.algorithm", "https");
  // A transaction is a row of small requests, and each would wait for the acknowledgement of the one before.
  set_if_known("socket.nagle.disable", "true");
  for (const auto& [name, value] : connection.librdkafka) {
    user_sets_.insert(name);
    if (name == "enable.metrics.push" && value == "false") pushes_metrics_ = false;
    set(name.c_str(), value);
  }
  set("bootstrap.servers", connection.bootstrap_servers);
  set("client.id", connection.client_id);
  set("socket.timeout.ms", connection.socket_timeout);
}

ClientConf& ClientConf::set(const char* name, const std::string& value) {
  std::array<char, 512> text{};
  if (failure_) return *this;
  if (rd_kafka_conf_set(conf_.get(), name, value.c_str(), text.data(), text.size()) != RD_KAFKA_CONF_OK)
    failure_ = Error{
        ErrorClass::kInvalid, RD_KAFKA_RESP_ERR__INVALID_ARG,
        "kafka property " + std::string(name) + ": " + text.data() + "; correct it in [kafka] or in the environment"};
  return *this;
}

ClientConf& ClientConf::set_if_known(const char* name, const char* value) {
  std::array<char, 512> text{};
  (void)rd_kafka_conf_set(conf_.get(), name, value, text.data(), text.size());
  return *this;
}

ClientConf& ClientConf::set_reader(Isolation isolation, std::uint64_t message_bytes_max,
                                   std::uint64_t queue_bytes_max) {
  const std::uint64_t fetch = std::max(kFetchBytesMax, message_bytes_max);
  set("isolation.level", isolation == Isolation::kReadCommitted ? "read_committed" : "read_uncommitted");
  set_flag("enable.auto.commit", false);
  set_flag("enable.auto.offset.store", false);
  set_flag("enable.partition.eof", true);
  set_flag("check.crcs", true);  // off in librdkafka: a byte that a disk or a network changed would be decided
  set("partition.assignment.strategy", "range");
  set_if_known("group.protocol", "classic");
  set("fetch.wait.max.ms", kFetchWait);
  set("fetch.error.backoff.ms", kFetchWait);
  if (!user_sets("fetch.message.max.bytes") && !user_sets("max.partition.fetch.bytes"))
    set_number("fetch.message.max.bytes", kFetchPartitionBytesMax);
  set_number("message.max.bytes", message_bytes_max);
  set_number("fetch.max.bytes", fetch);
  set_number("receive.message.max.bytes",
             std::min(std::max(fetch, kUnpackSteps * message_bytes_max) + kResponseSlack, kResponseBytesMax));
  if (!user_sets("queued.min.messages")) set_number("queued.min.messages", Prefetch::kMessages);
  if (!user_sets("fetch.queue.backoff.ms")) set_if_known("fetch.queue.backoff.ms", "10");  // before 2.2.0: Prefetch
  return set_number("queued.max.messages.kbytes", std::max<std::uint64_t>(1, queue_bytes_max / 1024));
}

ClientConf& ClientConf::fetch_little() {
  set("fetch.wait.max.ms", kShortFetchWait);
  if (user_sets("fetch.message.max.bytes") || user_sets("max.partition.fetch.bytes")) return *this;
  return set_number("fetch.message.max.bytes", kFetchLittleBytes);
}

Result<rd_kafka_t*> ClientConf::make(rd_kafka_type_t type) {
  if (failure_) return *failure_;
  if (auto good = check_loaded_version(pushes_metrics_); !good) return good.error();
  std::array<char, 512> text{};
  rd_kafka_t* client = rd_kafka_new(type, conf_.get(), text.data(), text.size());
  if (client == nullptr)
    return Error{ErrorClass::kInvalid, rd_kafka_last_error(),
                 std::string("kafka client: ") + text.data() + "; correct it in [kafka] or in the environment"};
  (void)conf_.release();  // the client owns it now
  return client;
}

Result<ConsumerHandle> ClientConf::make_consumer() {
  auto client = make(RD_KAFKA_CONSUMER);
  if (!client) return client.error();
  return ConsumerHandle(client.value());
}

Result<ProducerHandle> ClientConf::make_producer() {
  auto client = make(RD_KAFKA_PRODUCER);
  if (!client) return client.error();
  return ProducerHandle(client.value());
}

}  // namespace reseq::kafka
