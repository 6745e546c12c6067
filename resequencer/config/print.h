// The configuration as text: what is in force, and the reference of all keys.
// Thread rule: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "config/settings.h"

namespace reseq::config {

// Every key with its value, as TOML that load() reads. Of [kafka] only properties that are known to be harmless are
// shown, all others as asterisks: a mistyped or new name must not give a password away.
[[nodiscard]] std::string print(const Settings& settings);

// docs/configuration.md: how a configuration is written, and what every key means.
[[nodiscard]] std::string reference();

// True: its value may be printed.
[[nodiscard]] bool is_harmless(std::string_view kafka_property);

}  // namespace reseq::config
