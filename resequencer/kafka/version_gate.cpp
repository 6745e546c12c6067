#include "kafka/version_gate.h"

#include <array>

#include "kafka/handles.h"

namespace reseq::kafka {

namespace {

struct Refused {
  LibrdkafkaVersion first;
  LibrdkafkaVersion last;
  bool only_with_metrics;  // fine with enable.metrics.push=false
  std::string_view reason;
};

constexpr LibrdkafkaVersion kOldest{2, 0, 2};
// Repeats its nonce in the second message of SCRAM, which Kafka 4 does not take any more (librdkafka issue 4895).
constexpr LibrdkafkaVersion kScramIsRight{2, 6, 1};

constexpr std::array<Refused, 3> kRefused = {{
    {{2, 1, 0},
     {2, 2, 99},
     false,
     "it resets consumer offsets by itself and reads records twice; install 2.0.2, or 2.3.0 or newer"},
    {{2, 5, 0}, {2, 5, 2}, true, "it ends the process when a broker asks for metrics; set enable.metrics.push=false"},
    {{2, 10, 0}, {2, 10, 0}, false, "it reconnects for ever after a broker was replaced; install 2.10.1 or newer"},
}};

std::string text_of(LibrdkafkaVersion version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.revision);
}

}  // namespace

LibrdkafkaVersion parse_version(int number) {
  const auto bits = static_cast<unsigned>(number);
  return {static_cast<int>(bits >> 24 & 0xff), static_cast<int>(bits >> 16 & 0xff), static_cast<int>(bits >> 8 & 0xff)};
}

std::optional<std::string> refusal(LibrdkafkaVersion version, bool pushes_metrics) {
  if (version < kOldest)
    return "librdkafka " + text_of(version) + " is too old, at least " + text_of(kOldest) + " is needed; install it";
  for (const Refused& refused : kRefused) {
    if (version < refused.first || version > refused.last) continue;
    if (refused.only_with_metrics && !pushes_metrics) continue;
    return "librdkafka " + text_of(version) + " is refused: " + std::string(refused.reason);
  }
  return std::nullopt;
}

std::optional<std::string> login_trouble(LibrdkafkaVersion version, std::string_view mechanism) {
  if (!mechanism.starts_with("SCRAM-") || version >= kScramIsRight) return std::nullopt;
  return "librdkafka " + text_of(version) + " cannot log in with " + std::string(mechanism) +
         " at Kafka 4 or newer: install librdkafka " + text_of(kScramIsRight) +
         " or newer, or use a client certificate, OAUTHBEARER, or PLAIN over TLS; at older brokers it can, there "
         "correct sasl.username and sasl.password";
}

LibrdkafkaVersion loaded_version() {
  return parse_version(rd_kafka_version());
}

Result<> check_loaded_version(bool pushes_metrics) {
  if (auto reason = refusal(parse_version(rd_kafka_version()), pushes_metrics))
    return Error{ErrorClass::kInvalid, 0, *reason};
  if (parse_version(rd_kafka_version()) < parse_version(RD_KAFKA_VERSION))
    return Error{ErrorClass::kInvalid, 0,
                 "librdkafka " + text_of(parse_version(rd_kafka_version())) +
                     " is loaded, but the program was built for " + text_of(parse_version(RD_KAFKA_VERSION)) +
                     "; install that version, or build again"};
  return Done{};
}

}  // namespace reseq::kafka
