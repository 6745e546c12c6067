// The configuration as text: what is in force, and the reference of all keys.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "config/settings.h"

namespace reseq::config {

// Every key with its value, as TOML that load() reads; values of secrets are replaced by asterisks.
[[nodiscard]] std::string print(const Settings& settings);

// The tables of docs/configuration.md, as Markdown.
[[nodiscard]] std::string reference();

// True: the value of this property of librdkafka must not be shown.
[[nodiscard]] bool is_secret(std::string_view kafka_property);

}  // namespace reseq::config
