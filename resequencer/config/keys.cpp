// Every key of the configuration file: its name, its place in Settings and what it means.
#include "config/settings.h"

namespace reseq::config {

namespace {

using S = Settings;

Key<S> text(const char* name, std::string S::*place, const char* allowed, const char* meaning) {
  return {.name = name, .meaning = meaning, .allowed = allowed, .text = place};
}
Key<S> number(const char* name, std::int64_t S::*place, std::int64_t minimum, const char* meaning) {
  return {.name = name, .meaning = meaning, .minimum = minimum, .number = place};
}
Key<S> number_or(const char* word, const char* name, std::int64_t S::*place, std::int64_t minimum,
                 const char* meaning) {
  return {.name = name, .meaning = meaning, .minimum = minimum, .word = word, .number = place};
}
Key<S> flag(const char* name, bool S::*place, const char* meaning) {
  return {.name = name, .meaning = meaning, .flag = place};
}
Key<S> list(const char* name, std::vector<std::string> S::*place, const char* meaning) {
  return {.name = name, .meaning = meaning, .list = place};
}
Key<S> topic(const char* name, std::string S::*place, const char* otherwise, const char* meaning) {
  return {.name = name, .meaning = meaning, .text = place, .otherwise = otherwise};
}

// What a batch does, and its limits.
std::vector<Key<S>> working_keys() {
  return {
      text("application.id", &S::application_id, "", "name of this application: prefix of its topics, its group"),
      text("instance.id", &S::instance_id, "", "name of this process, unique among those that run, kept over restarts"),
      text("bootstrap.servers", &S::bootstrap_servers, "", "host:port of Kafka brokers, separated by commas"),
      flag("insecure_transport", &S::insecure_transport,
           "allow certificates that nobody verifies, and passwords that cross the network in the clear"),
      text("sequence_kind", &S::sequence_kind, "u64|timestamp|lsn|text", "how reseq-seq is written and compared"),
      text("partitioner", &S::partitioner, "murmur2|crc32|unchecked",
           "how producers choose partitions; work and outputs are written the same way"),
      text("intake", &S::intake, "inline|tap", "inline: forward requests to work; tap: the pipeline reads requests"),
      flag("requests_carry_epochs", &S::requests_carry_epochs, "every request has reseq-epoch (tap: allows RESET)"),
      flag("skip_unchanged", &S::skip_unchanged,
           "a request that asks for what its targets have from the newest one, by its op and payload, goes nowhere: it "
           "is registered as served. Needs intake = \"inline\""),
      list("unchanged_headers", &S::unchanged_headers,
           "skip_unchanged: names of headers that count beside op and payload; at most 32"),
      text("first_start", &S::first_start, "begin|end",
           "where a new application begins to read its inputs; end: what is in them already is left alone"),
      text("events", &S::events, "none|drops|all",
           "which outcomes get a record on the events topic; overdue documents always do"),
      text("deletes", &S::deletes, "null-payload|explicit",
           "explicit: a null payload without reseq-op: delete is a dead letter, because it may be a worker's bug"),
      text("on_unregistered", &S::on_unregistered, "dead-letter|drop", "a result whose order is not registered"),
      text("on_unregistered_target", &S::on_unregistered_target, "dead-letter|drop",
           "a result for a target that its order does not have"),
      text("on_missing", &S::on_missing, "dead-letter|topic|stop",
           "a result without id or sequence; stop: the process ends with a line that names it"),
      text("on_missing_topic", &S::on_missing_topic, "", "topic for on_missing = topic"),
      text("profile", &S::profile, "none|cloudevents",
           "cloudevents: requests may say ce_sequence instead of reseq-seq, outputs have ce_subject and ce_sequence"),
      text("input.id", &S::input_id, "",
           "where a request has its document id: `key` or `header:NAME`; work and all behind it has the id as key"),
      topic("input.sequence", &S::input_sequence, "reseq-seq",
            "where a request has its sequence, as `header:NAME`; work says it in reseq-seq"),
      text("dead_letter_headers", &S::dead_letter_headers, "reseq|streams|spring", "extra header set on dead letters"),
      number("starvation_after_ms", &S::starvation_after_ms, 0,
             "a target that waits longer while newer requests come takes results that rise; 0 = never"),
      number("registration_timeout_ms", &S::registration_timeout_ms, 0,
             "after that a document that waits for a result and gets none is reported as overdue; 0 = never"),
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
      number("headers_max", &S::headers_max, 32,
             "most headers of a request; one with more is a dead letter; a result may have 32 more"),
      number("workers", &S::workers, 1, "threads of this process, each with a consumer and a producer of its own"),
      text("state.dir", &S::state_dir, "", "directory on a local disk for the state; one per host is enough"),
      number("checkpoint_rows_max", &S::checkpoint_rows_max, 1, "changed rows of a partition kept in memory only"),
      number("checkpoint_bytes_max", &S::checkpoint_bytes_max, 4096, "the same in bytes"),
      number("checkpoint_interval_ms", &S::checkpoint_interval_ms, 100, "longest time between two checkpoints"),
      number("sync_interval_ms", &S::sync_interval_ms, 1000, "time between two checked syncs of the state to disk"),
  };
}

// How requests wait for their turn.
std::vector<Key<S>> dispatch_keys() {
  return {
      text("dispatch.mode", &S::dispatch_mode, "immediate|journal",
           "immediate: requests go to work as they come; journal: they wait in the state until it is their turn. Needs "
           "intake = \"inline\", and no total target"),
      number("dispatch.in_flight_max", &S::dispatch_in_flight_max, 1,
             "journal: documents of a partition that are under way at a time; at most 1000000000"),
      number("dispatch.default_priority", &S::dispatch_default_priority, 0,
             "journal: of a request without reseq-priority; at most 255, the smallest goes first"),
      number("dispatch.idle_from_priority", &S::dispatch_idle_from_priority, 0,
             "journal: from this priority on requests go only while nothing more urgent is under way or due; at most "
             "256 = never so"),
      number("dispatch.process_at_max_ms", &S::dispatch_process_at_max_ms, 0,
             "journal: how far ahead reseq-process-at may lie, later is refused; with dispatch.lease_ms below the "
             "retention of requests; at most 366 days"),
      number_or("auto", "dispatch.consolidate_ms", &S::dispatch_consolidate_ms, 0,
                "journal: a request waits so long for newer ones of its document, which take its place; at most "
                "dispatch.process_at_max_ms; auto: as long as 99 of 100 documents took lately from their dispatch to "
                "their last release, to the next power of two, 60000 at most"),
      flag("dispatch.one_at_a_time", &S::dispatch_one_at_a_time,
           "journal: a document goes to work again only when its older request has ended for all its targets"),
      number("dispatch.lease_ms", &S::dispatch_lease_ms, 1000,
             "journal: a request without a result or a heartbeat for so long waits again; at most 366 days"),
      number("dispatch.timeouts_max", &S::dispatch_timeouts_max, 0,
             "journal: a request that loses its lease more often, while others are answered, is given up; at most "
             "1000000000"),
      text("dispatch.attempts", &S::dispatch_attempts, "any|last",
           "journal: last: only the result of the last attempt is taken, not a late one of an earlier"),
      number("held_bytes_max", &S::held_bytes_max, 0,
             "bytes of records that wait in the state of a partition; above half of it requests wait by their place "
             "in requests, and are read again; more results for strict and total targets stop the reading of requests"),
  };
}

// What becomes of work that could not be done.
std::vector<Key<S>> failure_keys() {
  return {
      text("failures.mode", &S::failures_mode, "off|retry",
           "retry: workers may say that they could not do their work (reseq-command: fail); it is tried again, and "
           "given up in the end. Needs intake = \"inline\""),
      number("failures.retries_max", &S::failures_retries_max, 0,
             "retry: so often a request is tried again for a target, then it is given up; at most 1000000000"),
      number("failures.backoff_ms", &S::failures_backoff_ms, 1,
             "retry: longest time until the first retry, doubled for each further one; the shortest is half of it"),
      number("failures.backoff_max_ms", &S::failures_backoff_max_ms, 1,
             "retry: it is not doubled beyond this; at most 366 days"),
      number(
          "failures.repeats_max", &S::failures_repeats_max, 1,
          "retry: so often in a row the same error, of which nobody says whether it will pass, is a permanent one; at "
          "most 1000000000"),
      text("failures.on_failure", &S::failures_on_failure, "dead-letter|marker",
           "retry: what is left of a request that is given up: a dead letter, or beside it a marker on the output of "
           "each target, so that it is found where people search"),
      flag("failures.inherit_failed", &S::failures_inherit_failed,
           "retry: a newer request with the very content of the one that failed for good is given up at once"),
      number("failures.breaker_documents", &S::failures_breaker_documents, 0,
             "retry: when so many documents of a partition could not be brought to a target that is down for all "
             "(universal), and nothing was released for it, they wait for it without losing retries, and one at a time "
             "tries it; at most 32, 0 = never"),
      number("failures.breaker_pause_ms", &S::failures_breaker_pause_ms, 1,
             "retry: until the first document tries a target that is down, doubled for each further one"),
      number("failures.breaker_pause_max_ms", &S::failures_breaker_pause_max_ms, 1,
             "retry: it is not doubled beyond this; at most 366 days"),
  };
}

// What strict and total targets wait for.
std::vector<Key<S>> order_keys() {
  return {
      number("orders.gap_timeout_ms", &S::orders_gap_timeout_ms, 1000,
             "strict, total: so long behind its dispatch the result that all others wait for is waited for, then it is "
             "skipped; at most 366 days"),
      text("orders.on_gap", &S::orders_on_gap, "dead-letter|marker",
           "strict, total: what is left of a result that was skipped: a dead letter, or beside it a marker on the "
           "output of its target"),
      number("orders.lane_in_flight_max", &S::orders_lane_in_flight_max, 1,
             "strict, total, with a journal or retries: so many versions of a document wait for their turn, are under "
             "way or fail at a time, others behind them; at most 256"),
  };
}

std::vector<Key<S>> topic_keys() {
  return {
      topic("topic.requests", &S::topic_requests, "<application.id>.requests", "read: requests of producers"),
      topic("topic.commands", &S::topic_commands, "<application.id>.commands", "read: results and registrations"),
      topic("topic.control", &S::topic_control, "<application.id>.control", "read: operations"),
      topic("topic.work", &S::topic_work, "<application.id>.work", "written: requests that are still wanted"),
      topic("topic.dead-letter", &S::topic_dead_letter, "<application.id>.dead-letter",
            "written: inputs that could not be used"),
      topic("topic.events", &S::topic_events, "<application.id>.events", "written: what became of each input"),
      topic("topic.changelog", &S::topic_changelog, "<application.id>.changelog", "the state; compacted"),
      topic("topic.admin.requests", &S::topic_admin_requests, "<application.id>.admin.requests",
            "read: what operators ask"),
      topic("topic.admin.replies", &S::topic_admin_replies, "<application.id>.admin.replies",
            "written: what instances answer"),
  };
}

// Shadow mode.
std::vector<Key<S>> observe_keys() {
  return {
      text("mode", &S::mode, "run|observe", "observe: `run` only looks at a pipeline and writes nothing to Kafka"),
      topic("observe.input_topic", &S::observe_input_topic, "topic.requests", "observe: what the pipeline reads"),
      topic("observe.output_topic", &S::observe_output_topic, "topic.commands", "observe: what the pipeline writes"),
      text("observe.id", &S::observe_id, "", "observe: where a record has its document id: `key` or `header:NAME`"),
      text("observe.sequence", &S::observe_sequence, "",
           "observe: where a record has its sequence, as `header:NAME`; empty = records carry the headers of the wire "
           "contract, whatever observe.id says"),
      topic("observe.output_id", &S::observe_output_id, "observe.id", "observe: the same of the output"),
      topic("observe.output_sequence", &S::observe_output_sequence, "observe.sequence",
            "observe: the same of the output"),
      text("observe.target", &S::observe_target, "",
           "observe: where a record of the output has its target, one of [[target]]; empty = there is one"),
      text("observe.from", &S::observe_from, "",
           "observe: `beginning`, `end`, or how long ago, as `30m`, `2h`, `7d`; later starts go on from where it was"),
      text("observe.for", &S::observe_for, "",
           "observe: ends after that time, as `10m`; `0s` = after what is there now; empty = at a signal"),
      text("observe.wrong_file", &S::observe_wrong_file, "",
           "observe: a file for the documents that are wrong now, a line of JSON for each; empty = none"),
  };
}

// What is around the work: `init`, and what the process tells of itself.
std::vector<Key<S>> surrounding_keys() {
  return {
      number("init.partitions", &S::init_partitions, 1, "partitions of the inputs and the changelog made by init"),
      number("init.work_partitions", &S::init_work_partitions, 1, "partitions of work made by init"),
      number("init.output_partitions", &S::init_output_partitions, 1, "partitions of each output made by init"),
      number("init.replication", &S::init_replication, 0,
             "replicas of the topics made by init; 0 = 3, or one per broker where there are fewer"),
      number("init.max_message_bytes", &S::init_max_message_bytes, 1024, "largest record of requests and commands"),
      text("http.listen", &S::http_listen, "",
           "host:port of /metrics, /livez, /readyz and the page, as 127.0.0.1:9464; empty = none"),
      flag("http.page", &S::http_page, "the page for people, for this host alone, which looks documents up"),
      flag("http.page_gateway", &S::http_page_gateway,
           "the page also for what comes from the default gateway: in a container, the machine that it runs on"),
      flag("http.page_operations", &S::http_page_operations,
           "the page has buttons that ask for what failed once more, and resume targets that were down"),
      text("log_level", &S::log_level, "debug|info|warning|error", "least severe line that is logged"),
      text("log_format", &S::log_format, "text|json", "lines of the log: for people, or a JSON object each"),
  };
}

}  // namespace

const std::vector<Key<Settings>>& keys() {
  static const std::vector<Key<S>> all = [] {
    std::vector<Key<S>> together = working_keys();
    for (const auto& more :
         {dispatch_keys(), failure_keys(), order_keys(), topic_keys(), observe_keys(), surrounding_keys()})
      together.insert(together.end(), more.begin(), more.end());
    return together;
  }();
  return all;
}

const std::vector<Key<Target>>& target_keys() {
  using T = Target;
  static const std::vector<Key<T>> all = {
      {.name = "name",
       .meaning = "letters, digits, `.`, `_`, `-`; at most 100 bytes; 64 targets at most",
       .text = &T::name},
      {.name = "topic",
       .meaning = "where results for it are released",
       .text = &T::topic,
       .otherwise = "<application.id>.output.<name>"},
      {.name = "order",
       .meaning = "which results it gets: only what is still the newest (newest), each that is newer than the last one "
                  "(monotonic), every version of a document in its order (strict), or every version of a partition in "
                  "the order of requests (total); strict and total are for life: another order is another target",
       .allowed = "newest|monotonic|strict|total",
       .text = &T::order},
      {.name = "effect",
       .meaning = "what happens when work for it is done twice: nothing (safe), the same again (idempotent), or harm "
                  "(potent): then no attempt follows one whose end is unknown. With a journal or retries potent needs "
                  "both, and dispatch.attempts = \"last\"",
       .allowed = "safe|idempotent|potent",
       .text = &T::effect},
      {.name = "optional",
       .meaning = "not one of the targets that a request without a list or a route has",
       .flag = &T::optional},
  };
  return all;
}

const std::vector<Key<Step>>& step_keys() {
  using T = Step;
  static const std::vector<Key<T>> all = {
      {.name = "name", .meaning = "as a target may be named, and another one than all targets", .text = &T::name},
      {.name = "effect",
       .meaning = "what it does to others when it is done twice: nothing (safe), the same again (idempotent), or harm "
                  "(potent)",
       .allowed = "safe|idempotent|potent",
       .text = &T::effect},
      {.name = "mutating", .meaning = "what it passes on is not what it got", .flag = &T::mutating},
      {.name = "next", .meaning = "names of the steps and targets that get what it passes on", .list = &T::next},
  };
  return all;
}

const std::vector<Key<Route>>& route_keys() {
  using R = Route;
  static const std::vector<Key<R>> all = {
      {.name = "id_prefix", .meaning = "the id begins with it", .text = &R::id_prefix},
      {.name = "id_glob", .meaning = "the whole id matches: `*`, `?`, `[a-z]`, `[!a-z]`", .text = &R::id_glob},
      {.name = "header", .meaning = "the request has this header ...", .text = &R::header},
      {.name = "header_value", .meaning = "... with this value", .text = &R::header_value},
      {.name = "targets", .meaning = "names of targets, at least one", .list = &R::targets},
  };
  return all;
}

}  // namespace reseq::config
