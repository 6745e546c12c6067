#include "kafka/message_view.h"

#include <algorithm>

namespace reseq::kafka {

namespace {

constexpr std::uint64_t kHeaderFrameBytes = 2;  // its two lengths in the log, at least
// librdkafka makes no objects of more than 100,000 and does not say how many there are; each is two bytes at least.
constexpr HeadersLeftOut kUnreadable{100'001, 1024 * 1024};

}  // namespace

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

// librdkafka makes an object of each when it is first asked; they go at once, before those of the next record are made.
HeadersLeftOut read_some_headers(rd_kafka_message_t& message, std::size_t most,
                                 boost::container::small_vector<Header, 6>& headers) {
  rd_kafka_headers_t* list = nullptr;
  const rd_kafka_resp_err_t code = rd_kafka_message_headers(&message, &list);
  if (code == RD_KAFKA_RESP_ERR__NOENT) return {};
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kUnreadable;
  const std::size_t count = rd_kafka_header_cnt(list);
  if (count <= most) {
    read_headers(message, headers);
    return {};
  }
  HeadersLeftOut left_out{static_cast<std::uint32_t>(count), 0};
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; rd_kafka_header_get_all(list, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
    left_out.bytes += std::string_view(name).size() + size + kHeaderFrameBytes;
  (void)rd_kafka_message_detach_headers(&message, &list);
  const HeadersHandle gone(list);
  return left_out;
}

}  // namespace reseq::kafka
