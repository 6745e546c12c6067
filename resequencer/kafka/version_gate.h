// Which versions of librdkafka may carry the guarantees. The one that is loaded counts, not the one the
// program was built against.
// Thread rule: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reseq::kafka {

// rd_kafka_version(): 0xMMmmrrxx.
struct LibrdkafkaVersion {
  int major = 0;
  int minor = 0;
  int revision = 0;
  friend auto operator<=>(const LibrdkafkaVersion&, const LibrdkafkaVersion&) = default;
};
[[nodiscard]] LibrdkafkaVersion parse_version(int number);

// Why this version must not be used, in one line; nothing if it may. `pushes_metrics`: enable.metrics.push is on.
[[nodiscard]] std::optional<std::string> refusal(LibrdkafkaVersion version, bool pushes_metrics);

// Why brokers may refuse a login with this mechanism although user and password are right, and the fix; nothing if they
// do not. `version` is the loaded one.
[[nodiscard]] std::optional<std::string> login_trouble(LibrdkafkaVersion version, std::string_view mechanism);
[[nodiscard]] LibrdkafkaVersion loaded_version();

// kInvalid if the loaded library is refused.
[[nodiscard]] Result<> check_loaded_version(bool pushes_metrics);

}  // namespace reseq::kafka
