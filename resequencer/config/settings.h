// Settings: what an operator configures, as plain values with defaults. One TOML file in Kafka's own words; every key
// can be overridden by an environment variable RESEQ_<KEY>, upper case, dots and dashes as underscores.
//
// Invariant: what load() and parse() return has passed every check that needs no broker and no disk.
// Thread rule: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/key.h"

namespace reseq::config {

// [[target]]
struct Target {
  std::string name;
  std::string topic = {};             // empty = <application.id>.output.<name>
  std::string order = "newest";       // which results it gets, and in which order: newest, monotonic, strict, total
  bool optional = false;              // not part of the default targets
  std::string effect = "idempotent";  // of work for it that is done again: safe, idempotent, potent
};

// [[route]]
struct Route {
  std::string id_prefix, id_glob, header, header_value;
  std::vector<std::string> targets;
};

// [[step]]: a step of the pipeline between `work` and the targets. Nobody runs it from here; `check` judges the plan.
struct Step {
  std::string name;
  std::string effect = "safe";    // on others, of the step alone: safe, idempotent, potent
  bool mutating = false;          // what it passes on is not what it got
  std::vector<std::string> next;  // steps and targets that get what it passes on
};

struct Settings {
  std::string application_id;
  std::string instance_id = "1";
  std::string bootstrap_servers;
  bool insecure_transport = false;

  std::string sequence_kind = "u64";
  std::string partitioner = "murmur2";
  std::string intake = "inline";
  bool requests_carry_epochs = false;
  bool skip_unchanged = false;
  std::vector<std::string> unchanged_headers;
  std::string first_start = "begin";
  std::string events = "drops";
  std::string deletes = "null-payload";
  std::string on_unregistered = "dead-letter";
  std::string on_unregistered_target = "dead-letter";
  std::string on_missing = "dead-letter";
  std::string on_missing_topic;
  std::string dead_letter_headers = "reseq";
  std::string profile = "none";
  std::string input_id = "key";
  std::string input_sequence;  // empty = reseq-seq

  std::int64_t starvation_after_ms = 60'000;
  std::int64_t registration_timeout_ms = 3'600'000;
  std::int64_t watermark_retention_ms = std::int64_t{7} * 24 * 3600 * 1000;
  std::int64_t max_clock_drift_ms = 60'000;
  std::int64_t max_clock_jump_ms = 3'600'000;

  // [dispatch]: how requests wait for their turn.
  std::string dispatch_mode = "immediate";
  std::int64_t dispatch_in_flight_max = 1000;
  std::int64_t dispatch_default_priority = 100;
  std::int64_t dispatch_idle_from_priority = 200;
  std::int64_t dispatch_process_at_max_ms = std::int64_t{3} * 24 * 3600 * 1000;
  std::int64_t dispatch_consolidate_ms = 0;
  bool dispatch_one_at_a_time = true;
  std::int64_t dispatch_lease_ms = 3'600'000;
  std::int64_t dispatch_timeouts_max = 5;
  std::string dispatch_attempts = "any";
  // [failures]: what becomes of work that could not be done.
  std::string failures_mode = "off";
  std::int64_t failures_retries_max = 20;
  std::int64_t failures_backoff_ms = 1'000;
  std::int64_t failures_backoff_max_ms = 600'000;
  std::int64_t failures_repeats_max = 3;
  std::string failures_on_failure = "dead-letter";
  bool failures_inherit_failed = false;
  std::int64_t failures_breaker_documents = 5;
  std::int64_t failures_breaker_pause_ms = 5'000;
  std::int64_t failures_breaker_pause_max_ms = 60'000;
  std::int64_t held_bytes_max = 256 * 1024 * 1024;
  // [orders]: what strict and total targets wait for.
  std::int64_t orders_gap_timeout_ms = 600'000;
  std::string orders_on_gap = "dead-letter";
  std::int64_t orders_lane_in_flight_max = 16;

  std::int64_t session_timeout_ms = 10'000;
  std::int64_t transaction_timeout_ms = 10'000;
  std::int64_t socket_timeout_ms = 5'000;
  std::int64_t batch_records_max = 10'000;
  std::int64_t batch_bytes_max = 64 * 1024 * 1024;
  std::int64_t headers_max = 1000;

  std::int64_t workers = 1;
  std::string state_dir = "/var/lib/resequencer";
  std::int64_t checkpoint_rows_max = 65'536;
  std::int64_t checkpoint_bytes_max = 12 * 1024 * 1024;
  std::int64_t checkpoint_interval_ms = 60'000;
  std::int64_t sync_interval_ms = 30'000;

  // Topic names; empty = <application.id>.<role> (name_topics)
  std::string topic_requests, topic_commands, topic_control, topic_work, topic_dead_letter, topic_events,
      topic_changelog, topic_admin_requests, topic_admin_replies;
  // Used by `init` when it creates topics.
  std::int64_t init_partitions = 4;
  std::int64_t init_work_partitions = 16;
  std::int64_t init_output_partitions = 4;
  std::int64_t init_replication = 0;
  std::int64_t init_max_message_bytes = 17 * 1024 * 1024;

  // Shadow mode: a pipeline is looked at and left alone (docs/shadow.md).
  std::string mode = "run";
  std::string observe_input_topic;   // empty = topic.requests
  std::string observe_output_topic;  // empty = topic.commands
  std::string observe_id = "key";
  std::string observe_sequence;  // empty = the records carry the headers of the wire contract
  std::string observe_output_id;
  std::string observe_output_sequence;  // empty = as in the input
  std::string observe_target;
  std::string observe_from = "end";
  std::string observe_for;
  std::string observe_wrong_file;  // empty = nothing is noted for it

  std::string log_level = "info";
  std::string log_format = "text";
  std::string http_listen = "127.0.0.1:9464";
  bool http_page = true;
  bool http_page_gateway = false;
  bool http_page_operations = false;

  std::vector<Target> targets;
  std::vector<Route> routes;
  std::vector<Step> steps;
  std::vector<std::pair<std::string, std::string>> kafka;  // [kafka]: passed to librdkafka
};

[[nodiscard]] const std::vector<Key<Settings>>& keys();
[[nodiscard]] const std::vector<Key<Target>>& target_keys();
[[nodiscard]] const std::vector<Key<Route>>& route_keys();
[[nodiscard]] const std::vector<Key<Step>>& step_keys();

// RESEQ_APPLICATION_ID of application.id; of a property of [kafka]: RESEQ_KAFKA_SASL_PASSWORD of sasl.password.
[[nodiscard]] std::string environment_name(std::string_view key);

// "90s", "10m", "2h", "7d", "500ms" as milliseconds. Empty: it is no time, or too long for 64 bits.
[[nodiscard]] std::optional<std::int64_t> parse_duration_ms(std::string_view text);

// What zero configuration begins with: defaults, then the environment. What is missing is for check().
[[nodiscard]] Result<Settings> from_environment();

// Fills in the names of topics that are not set: <application.id>.<role>, <application.id>.output.<target>.
void name_topics(Settings& settings);

// Reads the file, then the environment. kInvalid with one line that names the key, the place and the fix.
[[nodiscard]] Result<Settings> load(const std::string& path);
[[nodiscard]] Result<Settings> parse(const std::string& toml, const std::string& source_name);

}  // namespace reseq::config
