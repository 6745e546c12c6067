// RecordingSink: keeps what it is given and acknowledges only at a flush, as a broker that may die before it.
// Thread rule: one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "producers/tagging/request_sink.h"

namespace reseq::test {

struct Recorded {
  std::string key;
  std::optional<std::string> payload;
  std::map<std::string, std::string> headers;

  friend auto operator<=>(const Recorded&, const Recorded&) = default;
};

[[nodiscard]] inline Recorded recorded(const tagging::TaggedRecord& record) {
  Recorded copy{.key = std::string(record.key), .payload = std::nullopt, .headers = {}};
  if (record.payload.has_value()) copy.payload = std::string(*record.payload);
  for (const auto& header : record.headers) copy.headers[std::string(header.name)] = header.value;
  return copy;
}

class RecordingSink final : public tagging::RequestSink {
 public:
  Result<> produce(const tagging::TaggedRecord& record) override {
    if (waiting.size() >= queue_records_max)
      return Error{.what_to_do = ErrorClass::kRetriable, .code = 0, .message = "full"};
    if (record.payload.has_value() && record.payload->size() > payload_bytes_max)
      return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = "too large"};
    waiting.push_back(recorded(record));
    return Done{};
  }
  void poll(Milliseconds /*limit*/) override { acknowledge(); }
  Result<> flush(Milliseconds /*limit*/) override {
    if (broken) return Error{.what_to_do = ErrorClass::kFatal, .code = 0, .message = "the broker is gone"};
    acknowledge();
    return Done{};
  }

  std::vector<Recorded> acknowledged;
  std::vector<Recorded> waiting;  // lost when the process dies
  std::size_t queue_records_max = 100000;
  std::size_t payload_bytes_max = 1U << 20;
  bool broken = false;

 private:
  void acknowledge() {
    if (broken) return;
    acknowledged.insert(acknowledged.end(), waiting.begin(), waiting.end());
    waiting.clear();
  }
};

}  // namespace reseq::test
