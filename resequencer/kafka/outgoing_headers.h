// Headers of a record on its way out: those of a consumed message, taken over without copying, or copies of some; then
// they are edited.
// Thread rule: one thread.
#pragma once

#include <span>
#include <string>

#include "kafka/cluster.h"
#include "kafka/handles.h"
#include "model/header.h"

namespace reseq::kafka {

// A list of these headers as they stand; null when there is none.
[[nodiscard]] HeadersHandle list_of(std::span<const Header> headers);

class OutgoingHeaders {
 public:
  // The list for `record`; null when it has no header. The bytes of edits may lie in headers that are removed.
  [[nodiscard]] HeadersHandle take(const OutgoingRecord& record);

  // After a failed produce: the list goes back to the message it came from.
  static void give_back(const OutgoingRecord& record, HeadersHandle headers);

 private:
  void edit(rd_kafka_headers_t& headers, std::span<const HeaderEdit> edits);

  std::string scratch_;  // names and values of the edits: names with NUL, as librdkafka wants them
};

}  // namespace reseq::kafka
