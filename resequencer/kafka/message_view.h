// Fields of a message of librdkafka as views. The message keeps the bytes alive and becomes the owner of the record.
// Thread rule: pure functions.
#pragma once

#include <boost/container/small_vector.hpp>
#include <optional>
#include <string_view>

#include "kafka/cluster.h"
#include "kafka/handles.h"
#include "model/header.h"
#include "model/ids.h"

namespace reseq::kafka {

// Null is not empty.
[[nodiscard]] inline std::optional<std::string_view> bytes_or_null(const void* bytes, std::size_t size) {
  if (bytes == nullptr) return std::nullopt;
  return std::string_view(static_cast<const char*>(bytes), size);
}

// Milliseconds since 1970; 0 = none.
[[nodiscard]] UnixMs timestamp_of(const rd_kafka_message_t& message);

// Headers in the order of the record; the message keeps them.
void read_headers(const rd_kafka_message_t& message, boost::container::small_vector<Header, 6>& headers);

// None when there are more than `most`; then the message has none any more either.
[[nodiscard]] HeadersLeftOut read_some_headers(rd_kafka_message_t& message, std::size_t most,
                                               boost::container::small_vector<Header, 6>& headers);

inline void destroy_message(void* message) {
  rd_kafka_message_destroy(static_cast<rd_kafka_message_t*>(message));
}

// Fills what Record and PlainRecord have in common but the headers.
template <typename AnyRecord>
void fill_all_but_headers(AnyRecord& record, const rd_kafka_message_t& message) {
  record.offset = Offset(message.offset);
  record.timestamp = timestamp_of(message);
  record.key = bytes_or_null(message.key, message.key_len);
  record.payload = bytes_or_null(message.payload, message.len);
}

// Fills the record, and hands the message over.
template <typename AnyRecord>
void fill(AnyRecord& record, MessageHandle message) {
  fill_all_but_headers(record, *message);
  read_headers(*message, record.headers);
  record.owner = {message.release(), destroy_message};
}

}  // namespace reseq::kafka
