#include "kafka/errors.h"

#include <array>
#include <string>

#include "kafka/error_questions.h"

namespace reseq::kafka {

namespace {

std::string sentence(std::string_view what, std::string_view name, std::string_view text) {
  return std::string(what) + ": " + std::string(text) + " (" + std::string(name) + ")";
}

// Another instance has taken over this transactional id or this static membership.
bool is_fenced(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
      return true;
    default:
      return false;
  }
}

bool is_timeout(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT:  // a foreign transaction is open: wait for its end
      return true;
    default:
      return false;
  }
}

// The membership is not what it was: the work done under it is void.
bool is_membership_change(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
    case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
      return true;
    default:
      return false;
  }
}

bool is_passing(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:
    case RD_KAFKA_RESP_ERR__NODE_UPDATE:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__WAIT_CACHE:
    case RD_KAFKA_RESP_ERR__IN_PROGRESS:
    case RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR__OUTDATED:
    case RD_KAFKA_RESP_ERR__INTR:
    case RD_KAFKA_RESP_ERR__PARTIAL:
    case RD_KAFKA_RESP_ERR__RETRY:
    case RD_KAFKA_RESP_ERR__UNKNOWN_BROKER:
    case RD_KAFKA_RESP_ERR__BAD_MSG:  // an answer that cannot be read
    case RD_KAFKA_RESP_ERR_UNKNOWN:   // the broker failed at this request, and has no word for it
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
    case RD_KAFKA_RESP_ERR_NOT_CONTROLLER:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
    case RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED:
      return true;
    default:
      return false;
  }
}

// What somebody has to change: a name, a permission, a size, a setting.
bool is_wrong(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR__NO_OFFSET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
    case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
    case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICA_ASSIGNMENT:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_INVALID_REQUEST:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
    case RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
      return true;
    default:
      return false;
  }
}

}  // namespace

ErrorClass triage(const TransactionError& error) {
  // A new producer would be told the same: the setting has to change.
  if (error.fatal && error.code == RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT) return ErrorClass::kInvalid;
  if (error.fatal) return is_fenced(error.code) ? ErrorClass::kFenced : ErrorClass::kFatal;
  if (error.requires_abort) return ErrorClass::kAbort;
  if (error.retriable) return is_timeout(error.code) ? ErrorClass::kTimeout : ErrorClass::kRetriable;
  return ErrorClass::kFatal;
}

ErrorClass triage(rd_kafka_resp_err_t code) {
  if (is_fenced(code)) return ErrorClass::kFenced;
  if (is_membership_change(code)) return ErrorClass::kAbort;
  if (is_passing(code)) return ErrorClass::kRetriable;
  if (is_timeout(code)) return ErrorClass::kTimeout;
  if (is_wrong(code)) return ErrorClass::kInvalid;
  return ErrorClass::kFatal;
}

Error error_of(const rd_kafka_error_t& error, std::string_view what) {
  const TransactionError facts{.code = rd_kafka_error_code(&error),
                               .fatal = rd_kafka_error_is_fatal(&error) != 0,
                               .requires_abort = rd_kafka_error_txn_requires_abort(&error) != 0,
                               .retriable = rd_kafka_error_is_retriable(&error) != 0};
  return {triage(facts), facts.code, sentence(what, rd_kafka_error_name(&error), rd_kafka_error_string(&error))};
}

Error error_of(rd_kafka_resp_err_t code, std::string_view what) {
  return {triage(code), code, sentence(what, rd_kafka_err2name(code), rd_kafka_err2str(code))};
}

bool is_unknown_topic(const Error& error) {
  return error.code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || error.code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
}

bool is_damage(const Error& error) {
  return error.code == RD_KAFKA_RESP_ERR__BAD_MSG || error.code == RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED;
}

bool is_out_of_range(const Error& error) {
  return error.code == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE || error.code == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET;
}

bool is_out_of_reach(const Error& error) {
  return is_out_of_range(error) || error.code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
}

bool passes_by_itself(const Error& error) {
  const auto code = static_cast<rd_kafka_resp_err_t>(error.code);
  return is_passing(code) || is_timeout(code) || is_membership_change(code);
}

bool is_forbidden(const Error& error) {
  switch (error.code) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
      return true;
    default:
      return false;
  }
}

bool is_tls_trouble(const Error& error) {
  return error.code == RD_KAFKA_RESP_ERR__SSL;
}

bool is_refused_login(const Error& error) {
  switch (error.code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR__SSL:
      return true;
    default:
      return false;
  }
}

Result<> usable(rd_kafka_t& client, std::string_view what) {
  std::array<char, 512> text{};
  const rd_kafka_resp_err_t code = rd_kafka_fatal_error(&client, text.data(), text.size());
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return Done{};
  return Error{triage(TransactionError{.code = code, .fatal = true}), code,
               sentence(what, rd_kafka_err2name(code), text.data())};
}

}  // namespace reseq::kafka
