// Foreign port: whether what answers at a port is no Kafka, from what librdkafka tells of it, which takes every answer
// for one of Kafka's and the first four bytes of it for a size.
// Thread rule: pure function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reseq::kafka {

struct ForeignPort {
  bool sure = false;    // false: a broker that hangs looks the same
  std::string trouble;  // with the fix
};
// Nothing: it may well be a Kafka.
[[nodiscard]] std::optional<ForeignPort> foreign_port(std::string_view told);
// Of one that was silent and answers to HTTP.
[[nodiscard]] ForeignPort http_port();

}  // namespace reseq::kafka
