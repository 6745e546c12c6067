// Rules between keys: what can be said about a configuration without asking a broker or a disk.
// Thread rule: pure function.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "config/settings.h"

namespace reseq::config {

// kInvalid: one line that names the key and the fix. REQUIRES: topics have names (name_topics).
[[nodiscard]] Result<> check(const Settings& settings);

// Strict or total: it gets every version.
[[nodiscard]] bool is_ordered(const Target& target);

// With a journal: from the date of a request until it is dispatched for the last time, in milliseconds. With
// failures each attempt may take a lease.
[[nodiscard]] std::int64_t longest_wait_ms(const Settings& settings);
// What it is made of.
[[nodiscard]] std::string longest_wait_text(const Settings& settings);

}  // namespace reseq::config
