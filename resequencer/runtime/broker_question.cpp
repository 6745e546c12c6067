#include "runtime/broker_question.h"

#include <utility>

#include "kafka/admin.h"
#include "kafka/error_questions.h"
#include "kafka/librdkafka_cluster.h"
#include "runtime/clients.h"

namespace reseq::runtime {

Result<> BrokerQuestion::ask(Milliseconds limit) {
  kafka::ClusterSettings settings = cluster_settings_of(application_, std::nullopt);
  settings.connection.log = [](int, std::string_view, std::string_view) {};
  {
    const std::lock_guard lock(mutex_);
    if (!known_.empty()) settings.connection.bootstrap_servers += "," + known_;
  }
  const kafka::Connection connection = settings.connection;
  auto cluster = kafka::open_cluster(std::move(settings));
  if (!cluster) return cluster.error();
  const auto id = cluster.value()->cluster_id(limit);
  // Brokers that refuse a new client answer, and may go on with those that are connected.
  if (!id && kafka::is_refused_login(id.error())) return Done{};
  if (!id) return with_fix(id.error(), application_.settings);
  const auto admin = kafka::Admin::open(connection);
  if (!admin) return Done{};
  auto addresses = admin.value()->broker_addresses(limit);
  const std::lock_guard lock(mutex_);
  if (addresses && !addresses.value().empty()) known_ = std::move(addresses).value();
  return Done{};
}

}  // namespace reseq::runtime
