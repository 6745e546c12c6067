// What a consumer's poll may bring, sorted: a record, the end of a log, or an error that somebody must act on. Errors
// that pass by themselves are logged and swallowed.
// Thread rule: the thread of the consumer.
#pragma once

#include "base/result.h"
#include "kafka/handles.h"
#include "kafka/settings.h"

namespace reseq::kafka {

enum class MessageKind : unsigned char { kNothing, kRecord, kEndOfLog };

// An error of one partition (of_one_partition): what comes behind a damaged batch must not be taken before it was read
// again; error_questions.h tells damage, what is out of reach and what is refused apart. Otherwise kInvalid: the client
// may not go on at all; kFenced, kFatal: it is unusable.
[[nodiscard]] Result<MessageKind> kind_of(rd_kafka_t& consumer, const rd_kafka_message_t* message,
                                          const LogCallback& log);

// The error concerns the partition that the message names, not the client.
[[nodiscard]] bool of_one_partition(const rd_kafka_message_t* message, const Error& error);

// Leaves the group, if there is one, and stops reading; waits up to the limit. `revoke` is called before partitions are
// given back. The client can only be destroyed after it.
void close_consumer(rd_kafka_t& consumer, Milliseconds limit, void (*revoke)(rd_kafka_t*, void*), void* opaque);

}  // namespace reseq::kafka
