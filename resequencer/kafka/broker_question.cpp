#include "kafka/broker_question.h"

#include <utility>

#include "kafka/admin.h"
#include "kafka/error_questions.h"

namespace reseq::kafka {
namespace {

Connection silent(Connection connection) {
  connection.log = [](int, std::string_view, std::string_view) {};
  return connection;
}

}  // namespace

BrokerQuestion::BrokerQuestion(Connection connection) : connection_(silent(std::move(connection))) {}

Result<> BrokerQuestion::ask(Milliseconds limit) {
  Connection connection = connection_;
  {
    const std::lock_guard lock(mutex_);
    if (!known_.empty()) connection.bootstrap_servers += "," + known_;
  }
  const auto admin = Admin::open(connection);
  if (!admin) return admin.error();
  auto addresses = admin.value()->broker_addresses(limit);
  // Brokers that refuse a new client answer, and may go on with those that are connected.
  if (!addresses && is_refused_login(addresses.error())) return Done{};
  if (!addresses) return addresses.error();
  if (addresses.value().empty()) return Done{};
  const std::lock_guard lock(mutex_);
  known_ = std::move(addresses).value();
  return Done{};
}

}  // namespace reseq::kafka
