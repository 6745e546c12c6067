#include "kafka/message_view.h"

#include <algorithm>

namespace reseq::kafka {

UnixMs timestamp_of(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const std::int64_t timestamp = rd_kafka_message_timestamp(&message, &type);
  return UnixMs(type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? 0 : std::max<std::int64_t>(timestamp, 0));
}

void read_headers(const rd_kafka_message_t& message, boost::container::small_vector<Header, 6>& headers) {
  rd_kafka_headers_t* list = nullptr;
  if (rd_kafka_message_headers(&message, &list) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; rd_kafka_header_get_all(list, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
    headers.push_back({name, bytes_or_null(value, size)});
}

}  // namespace reseq::kafka
