// Triage of librdkafka's errors: fatal, then abort, then retriable, and everything else is treated as
// fatal.
// Thread rule: pure functions.
#pragma once

#include <string_view>

#include "base/result.h"
#include "kafka/handles.h"

namespace reseq::kafka {

// The three questions that an error of a transactional call answers.
struct TransactionError {
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
  bool fatal = false;
  bool requires_abort = false;
  bool retriable = false;
};
[[nodiscard]] ErrorClass triage(const TransactionError& error);

// The same for calls that answer a bare code: queries, consumer events, delivery reports.
[[nodiscard]] ErrorClass triage(rd_kafka_resp_err_t code);

// `what` was attempted. One line that names both.
[[nodiscard]] Error error_of(const rd_kafka_error_t& error, std::string_view what);
[[nodiscard]] Error error_of(rd_kafka_resp_err_t code, std::string_view what);

// What made the client unusable, if anything did.
[[nodiscard]] Result<> usable(rd_kafka_t& client, std::string_view what);

}  // namespace reseq::kafka
