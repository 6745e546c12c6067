#include "runtime/application/clients.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/log.h"
#include "codec/command_decoder.h"
#include "config/transport.h"
#include "kafka/error_questions.h"
#include "kafka/librdkafka_cluster.h"
#include "kafka/version_gate.h"

namespace reseq::runtime {

namespace {

std::string worker_id(const config::Settings& settings, std::int64_t worker) {
  return settings.application_id + "." + settings.instance_id + "." + std::to_string(worker);
}

}  // namespace

kafka::Connection connection_of(const config::Settings& settings) {
  kafka::Connection connection;
  connection.bootstrap_servers = settings.bootstrap_servers;
  connection.client_id = settings.application_id + "." + settings.instance_id;
  connection.librdkafka = settings.kafka;
  connection.log = kafka::log_to_log;
  connection.socket_timeout = Milliseconds(settings.socket_timeout_ms);
  return connection;
}

kafka::ClusterSettings cluster_settings_of(const Application& application, std::optional<std::int64_t> worker) {
  const config::Settings& settings = application.settings;
  kafka::ClusterSettings cluster;
  cluster.connection = connection_of(settings);
  if (application.client_log) cluster.connection.log = application.client_log;
  cluster.topics = application.topics.names();
  cluster.group_id = settings.application_id;
  cluster.group_instance_id = worker_id(settings, worker.value_or(0));
  cluster.transactional_id = cluster.group_instance_id;
  cluster.membership_required = application.guards.membership_required;
  cluster.recycle_on_doubt = application.guards.recycle_on_doubt;
  cluster.session_timeout = Milliseconds(settings.session_timeout_ms);
  cluster.transaction_timeout = Milliseconds(settings.transaction_timeout_ms);
  // What is written keeps to the partitioner of what is read: an output that exists already goes on as it began.
  if (application.partitioner == Partitioner::kCrc32) cluster.partitioner = "consistent_random";
  cluster.headers_max = application.headers_max + codec::kHeadersAddedMax;
  if (worker) {
    cluster.message_bytes_max = std::max(cluster.message_bytes_max, application.message_bytes_largest);
    cluster.batch_bytes_max = std::min(cluster.batch_bytes_max, application.message_bytes_least_written);
  }
  return cluster;
}

std::string told(const Error& error) {
  if (!kafka::is_forbidden(error)) return error.message;
  return error.message + ": `resequencer check` names the right that is missing and the command that grants it";
}

Error with_fix(const Error& error, const config::Settings& settings) {
  Error fixed = error;
  if (kafka::is_forbidden(error)) {
    fixed.what_to_do = ErrorClass::kInvalid;
    fixed.message = told(error);
  } else if (kafka::is_tls_trouble(error)) {
    fixed.message = "no TLS connection to the brokers: " + error.message;
  } else if (kafka::is_refused_login(error)) {
    const auto trouble = kafka::login_trouble(kafka::loaded_version(), config::mechanism_of(settings));
    fixed.message =
        "the brokers refuse this user: " + error.message + ": " +
        trouble.value_or("correct security.protocol, sasl.* and ssl.* in [kafka], or RESEQ_KAFKA_SASL_PASSWORD");
  } else if (error.what_to_do != ErrorClass::kInvalid) {
    fixed.message = "no broker answers at " + settings.bootstrap_servers + ": " + error.message +
                    ": start Kafka, or correct bootstrap.servers";
  }
  return fixed;
}

}  // namespace reseq::runtime
