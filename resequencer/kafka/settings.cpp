#include "kafka/settings.h"

#include <algorithm>
#include <cstdio>

#include "base/log.h"

namespace reseq::kafka {

namespace {

constexpr std::string_view kGuarantee = "the guarantees rest on it, it cannot be changed";

Error invalid(std::string text) {
  return Error{ErrorClass::kInvalid, 0, std::move(text)};
}

std::string ms(Milliseconds limit) {
  return std::to_string(limit.value()) + " ms";
}

// Largest request and answer that librdkafka and the brokers can be told of.
constexpr std::uint64_t kMessageBytesMin = 1'000;
constexpr std::uint64_t kMessageBytesMax = 900'000'000;
constexpr Milliseconds kSessionMin{6'000};  // group.min.session.timeout.ms of the brokers, unless changed
constexpr Milliseconds kTransactionSlack{100};

Result<> check_timeouts(const ClusterSettings& settings) {
  const Milliseconds socket = settings.connection.socket_timeout;
  if (settings.transaction_timeout.value() < socket.value() + kTransactionSlack.value())
    return invalid("transaction timeout " + ms(settings.transaction_timeout) + " must be at least " +
                   ms(kTransactionSlack) + " longer than the socket timeout " + ms(socket));
  // An abort may take as long as the transaction once more.
  if (settings.max_poll_interval.value() <= 2 * settings.transaction_timeout.value())
    return invalid("max poll interval " + ms(settings.max_poll_interval) +
                   " must be longer than twice the transaction timeout " + ms(settings.transaction_timeout));
  if (settings.session_timeout < kSessionMin)
    return invalid("session timeout " + ms(settings.session_timeout) + " is below the " + ms(kSessionMin) +
                   " that brokers accept");
  if (settings.max_poll_interval < settings.session_timeout)
    return invalid("max poll interval " + ms(settings.max_poll_interval) + " must not be shorter than the session " +
                   "timeout " + ms(settings.session_timeout));
  return Done{};
}

}  // namespace

void log_to_stderr(int level, std::string_view facility, std::string_view text) {
  std::fprintf(stderr, "kafka level=%d facility=%s text=%s\n", level, log::outside(facility).c_str(),
               log::outside(text).c_str());
}

void log_errors_to_stderr(int level, std::string_view facility, std::string_view text) {
  if (level <= kLogError) log_to_stderr(level, facility, text);
}

void log_to_log(int level, std::string_view facility, std::string_view text) {
  const auto severity = level <= kLogError     ? spdlog::level::err
                        : level <= kLogWarning ? spdlog::level::warn
                                               : spdlog::level::info;
  spdlog::log(severity, "librdkafka={} text={}", log::outside(facility), log::outside(text));
}

const std::vector<OwnedProperty>& owned_properties() {
  static const std::vector<OwnedProperty> owned = {
      {"bootstrap.servers", "use the setting bootstrap.servers"},
      {"metadata.broker.list", "use the setting bootstrap.servers"},
      {"client.id", "it is made from application and instance"},
      {"group.id", "it is the application id"},
      {"group.instance.id", "it is made from the instance id"},
      {"group.protocol", "a restarted instance would wait for its old session with the other one"},
      {"transactional.id", "it is made from application and instance"},
      {"isolation.level", kGuarantee},
      {"enable.idempotence", kGuarantee},
      {"enable.gapless.guarantee", kGuarantee},
      {"acks", kGuarantee},
      {"request.required.acks", kGuarantee},
      {"auto.offset.reset", kGuarantee},
      {"enable.auto.commit", kGuarantee},
      {"auto.commit.enable", kGuarantee},
      {"auto.commit.interval.ms", kGuarantee},
      {"enable.auto.offset.store", kGuarantee},
      {"allow.auto.create.topics", kGuarantee},
      {"partition.assignment.strategy", kGuarantee},
      {"enable.partition.eof", kGuarantee},
      {"partitioner", "use the setting partitioner"},
      {"check.crcs", kGuarantee},
      {"socket.timeout.ms", "use the setting socket.timeout.ms"},
      {"session.timeout.ms", "use the setting session.timeout.ms"},
      {"transaction.timeout.ms", "use the setting transaction.timeout.ms"},
      {"message.timeout.ms", "it is the transaction timeout"},
      {"delivery.timeout.ms", "it is the transaction timeout"},
      {"max.poll.interval.ms", "it follows from the transaction timeout"},
      {"message.max.bytes", "it follows from the largest message"},
      {"max.in.flight.requests.per.connection", kGuarantee},
      {"max.in.flight", kGuarantee},
      {"retry.backoff.ms", kGuarantee},
      {"retries", kGuarantee},
      {"message.send.max.retries", kGuarantee},
      {"batch.size", "it follows from the topics"},
      {"queued.max.messages.kbytes", "it follows from the memory bounds"},
      {"fetch.max.bytes", "it follows from the memory bounds"},
      {"receive.message.max.bytes", "it follows from the memory bounds"},
      {"plugin.library.paths", "foreign code is not loaded"},
  };
  return owned;
}

Result<> check(const Connection& connection) {
  if (connection.bootstrap_servers.empty()) return invalid("bootstrap.servers is empty");
  if (connection.socket_timeout.value() < 1'100) return invalid("socket.timeout.ms must be at least 1100");
  const auto& owned = owned_properties();
  for (const auto& property : connection.librdkafka) {
    const std::string& name = property.first;
    const auto found = std::find_if(owned.begin(), owned.end(), [&](const auto& own) { return own.name == name; });
    if (found == owned.end()) continue;
    return invalid("kafka property " + name + " must not be set: " + std::string(found->instead));
  }
  return Done{};
}

Result<> check(const ClusterSettings& settings) {
  if (auto good = check(settings.connection); !good) return good;
  if (settings.group_id.empty()) return invalid("the group id is empty");
  if (settings.transactional_id.empty()) return invalid("the transactional id is empty");
  if (settings.message_bytes_max < kMessageBytesMin || settings.message_bytes_max > kMessageBytesMax)
    return invalid("the largest message must be between 1000 and 900000000 bytes");
  if (settings.batch_bytes_max == 0 || settings.batch_bytes_max > settings.message_bytes_max)
    return invalid("a batch must not be larger than the largest message");
  return check_timeouts(settings);
}

}  // namespace reseq::kafka
