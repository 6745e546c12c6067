#include "kafka/outgoing_headers.h"

#include "base/assert.h"

namespace reseq::kafka {

HeadersHandle list_of(std::span<const Header> headers) {
  if (headers.empty()) return nullptr;
  HeadersHandle list(rd_kafka_headers_new(headers.size()));
  for (const Header& header : headers) {
    // Null is not empty.
    const char* value = !header.value ? nullptr : header.value->data() == nullptr ? "" : header.value->data();
    rd_kafka_header_add(list.get(), header.name.data(), static_cast<ssize_t>(header.name.size()), value,
                        header.value ? static_cast<ssize_t>(header.value->size()) : 0);
  }
  return list;
}

HeadersHandle OutgoingHeaders::take(const OutgoingRecord& record) {
  RESEQ_ASSERT(record.headers_from == nullptr || record.headers.empty(), "headers of a record from two places");
  HeadersHandle headers = list_of(record.headers);
  if (record.headers_from != nullptr) {
    rd_kafka_headers_t* taken = nullptr;
    auto* message = static_cast<rd_kafka_message_t*>(record.headers_from->owner.get());
    RESEQ_ASSERT(message != nullptr, "headers of a record that was not consumed from Kafka");
    if (rd_kafka_message_detach_headers(message, &taken) == RD_KAFKA_RESP_ERR_NO_ERROR) headers.reset(taken);
  }
  if (record.edits.empty()) return headers;
  if (!headers) headers.reset(rd_kafka_headers_new(record.edits.size()));
  edit(*headers, record.edits);
  return headers;
}

void OutgoingHeaders::give_back(const OutgoingRecord& record, HeadersHandle headers) {
  if (record.headers_from == nullptr || !headers) return;
  auto* message = static_cast<rd_kafka_message_t*>(record.headers_from->owner.get());
  rd_kafka_message_set_headers(message, headers.release());
}

void OutgoingHeaders::edit(rd_kafka_headers_t& headers, std::span<const HeaderEdit> edits) {
  scratch_.clear();
  for (const HeaderEdit& one : edits) {
    scratch_.append(one.name).push_back('\0');
    if (one.value) scratch_.append(*one.value);
  }
  const char* at = scratch_.data();
  for (const HeaderEdit& one : edits) {
    const char* name = at;
    const char* value = name + one.name.size() + 1;
    rd_kafka_header_remove(&headers, name);  // none of that name is no error
    if (one.value) {
      rd_kafka_header_add(&headers, name, static_cast<ssize_t>(one.name.size()), value,
                          static_cast<ssize_t>(one.value->size()));
      at = value + one.value->size();
    } else {
      at = value;
    }
  }
}

}  // namespace reseq::kafka
