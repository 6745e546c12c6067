// The options of reseq-sink-opensearch that are about OpenSearch, and the settings that follow from them. Passwords and
// keys come from the environment or from files, never from the command line.
// Thread rule: one thread, before others are started.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "consumers/opensearch/opensearch_store.h"
#include "kafka/cluster.h"

namespace reseq::opensearch {

struct Arguments {
  std::vector<std::string> urls;
  std::string user;
  std::string password_file;
  std::string api_key_file;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  bool insecure_login = false;
  bool gzip = false;
  std::uint64_t request_limit_s = 60;
  std::uint64_t request_bytes_max = BulkLimits{}.request_bytes;
  std::string index;
  std::uint32_t generation = 1;
  std::string refresh_interval;
  std::string index_body_file;
  std::string payload = "json";
  std::string deletes = "tombstone";
  std::string tombstone_retention = "never";
};

inline constexpr const char* kPasswordVariable = "RESEQ_OPENSEARCH_PASSWORD";
inline constexpr const char* kApiKeyVariable = "RESEQ_OPENSEARCH_API_KEY";

void declare(CLI::App& app, Arguments& arguments);

// kInvalid: what was asked for cannot be had; the message says why. Secrets are hidden from the log from here on.
[[nodiscard]] Result<StoreSettings> settings_of(const Arguments& arguments, sink::Check check);

// "90s", "15m", "12h", "30d"; nothing: it is none of these.
[[nodiscard]] std::optional<Milliseconds> parse_duration(const std::string& text);

}  // namespace reseq::opensearch
