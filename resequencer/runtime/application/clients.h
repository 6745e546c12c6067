// How the clients of this process are opened: the connection and names that the configuration gives them.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kafka/settings.h"
#include "runtime/application/application.h"

namespace reseq::runtime {

// Librdkafka's own log lines go to ours.
[[nodiscard]] kafka::Connection connection_of(const config::Settings& settings);

// Without a worker: enough to ask the brokers. With one: its own names, and the limits that the topics have.
[[nodiscard]] kafka::ClusterSettings cluster_settings_of(const Application& application,
                                                         std::optional<std::int64_t> worker);

// Errors of asking the brokers for the first time, and of rights that are missing, with the fix at the end of the line.
[[nodiscard]] Error with_fix(const Error& error, const config::Settings& settings);

// Its message for a person: a right that is missing is one that `resequencer check` names.
[[nodiscard]] std::string told(const Error& error);

}  // namespace reseq::runtime
