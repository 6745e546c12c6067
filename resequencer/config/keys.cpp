// Every scalar key of the configuration file: its name, its place in Settings and what it means.
#include "config/settings.h"

namespace reseq::config {

namespace {

Key text(const char* name, std::string Settings::*place, const char* allowed, const char* meaning) {
  return {name, Key::Type::kText, meaning, place, nullptr, nullptr, allowed, 0};
}
Key number(const char* name, std::int64_t Settings::*place, std::int64_t minimum, const char* meaning) {
  return {name, Key::Type::kNumber, meaning, nullptr, place, nullptr, "", minimum};
}
Key flag(const char* name, bool Settings::*place, const char* meaning) {
  return {name, Key::Type::kFlag, meaning, nullptr, nullptr, place, "", 0};
}

}  // namespace

const std::vector<Key>& keys() {
  using S = Settings;
  static const std::vector<Key> all = {
      text("application.id", &S::application_id, "", "name of this application: prefix of its topics, its group"),
      text("instance.id", &S::instance_id, "", "name of this process, unique among those that run, kept over restarts"),
      text("bootstrap.servers", &S::bootstrap_servers, "", "host:port of Kafka brokers, separated by commas"),
      text("sequence_kind", &S::sequence_kind, "u64|timestamp|lsn|text", "how reseq-seq is written and compared"),
      text("partitioner", &S::partitioner, "murmur2|crc32|unchecked", "how producers choose partitions"),
      text("intake", &S::intake, "inline|tap", "inline: forward requests to work; tap: the pipeline reads requests"),
      flag("requests_carry_epochs", &S::requests_carry_epochs, "every request has reseq-epoch (tap: allows RESET)"),
      text("events", &S::events, "none|drops|all", "which outcomes get a record on the events topic"),
      text("on_unregistered", &S::on_unregistered, "dead-letter|drop", "a result whose order is not registered"),
      text("on_unregistered_target", &S::on_unregistered_target, "dead-letter|drop",
           "a result for a target that its order does not have"),
      text("on_missing", &S::on_missing, "dead-letter|topic|stop", "a result without id or sequence"),
      text("on_missing_topic", &S::on_missing_topic, "", "topic for on_missing = topic"),
      text("dead_letter_headers", &S::dead_letter_headers, "reseq|streams|spring", "extra header set on dead letters"),
      number("starvation_after_ms", &S::starvation_after_ms, 0, "after that a waiting target is monotonic; 0 = never"),
      number("registration_timeout_ms", &S::registration_timeout_ms, 0,
             "after that a document that still waits for a result is reported as overdue; 0 = never"),
      number("watermark_retention_ms", &S::watermark_retention_ms, 3'600'000,
             "how long a completed document is remembered; at least the retention of requests"),
      number("max_clock_drift_ms", &S::max_clock_drift_ms, 0, "how far versions may run ahead of the clock"),
      number("max_clock_jump_ms", &S::max_clock_jump_ms, 1000,
             "a larger forward step of the clock is not believed until the process is restarted"),
      number("session.timeout.ms", &S::session_timeout_ms, 6000, "after that a silent instance loses its partitions"),
      number("transaction.timeout.ms", &S::transaction_timeout_ms, 1000, "after that Kafka aborts an open transaction"),
      number("socket.timeout.ms", &S::socket_timeout_ms, 1100, "longest wait for an answer of a broker"),
      number("batch_records_max", &S::batch_records_max, 1, "most inputs in one transaction"),
      number("batch_bytes_max", &S::batch_bytes_max, 1024, "most input bytes in one transaction"),
      number("workers", &S::workers, 1, "threads of this process, each with a consumer and a producer of its own"),
      text("state.dir", &S::state_dir, "", "directory on a local disk for the state; one per host is enough"),
      number("checkpoint_rows_max", &S::checkpoint_rows_max, 1, "changed rows of a partition kept in memory only"),
      number("checkpoint_bytes_max", &S::checkpoint_bytes_max, 4096, "the same in bytes"),
      number("checkpoint_interval_ms", &S::checkpoint_interval_ms, 100, "longest time between two checkpoints"),
      number("sync_interval_ms", &S::sync_interval_ms, 1000, "time between two checked syncs of the state to disk"),
      text("topic.requests", &S::topic_requests, "", "default <application.id>.requests"),
      text("topic.commands", &S::topic_commands, "", "default <application.id>.commands"),
      text("topic.control", &S::topic_control, "", "default <application.id>.control"),
      text("topic.work", &S::topic_work, "", "default <application.id>.work"),
      text("topic.dead-letter", &S::topic_dead_letter, "", "default <application.id>.dead-letter"),
      text("topic.events", &S::topic_events, "", "default <application.id>.events"),
      text("topic.changelog", &S::topic_changelog, "", "default <application.id>.changelog"),
      number("init.partitions", &S::init_partitions, 1, "partitions of the inputs and the changelog made by init"),
      number("init.work_partitions", &S::init_work_partitions, 1, "partitions of work made by init"),
      number("init.output_partitions", &S::init_output_partitions, 1, "partitions of each output made by init"),
      number("init.replication", &S::init_replication, 1, "replicas of the topics made by init"),
      number("init.max_message_bytes", &S::init_max_message_bytes, 1024, "largest record of requests and commands"),
      text("log_level", &S::log_level, "debug|info|warning|error", "least severe line that is logged"),
  };
  return all;
}

}  // namespace reseq::config
