#include "consumers/remote/telling.h"

#include <charconv>
#include <chrono>

#include "metrics/exposition.h"

namespace reseq::remote {
namespace {

constexpr int kUnavailable = 503;
// The longest round: where partitions begin is asked, of brokers and of a server that answers neither yes nor no.
constexpr std::chrono::seconds kStuckAfter{300};

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

void add_counters(metrics::Exposition& told, const Counts& counts) {
  told.counter("reseq_sink_records_total", "Records read and done with");
  told.add(number(counts.records));
  told.counter("reseq_sink_written_total", "Writes that changed a document");
  told.add(number(counts.written));
  told.counter("reseq_sink_not_newer_total", "Writes that were not newer than what the server has: replays");
  told.add(number(counts.not_newer));
  told.counter("reseq_sink_rejected_total", "Records that became dead letters, by reason");
  told.add({{"reason", "malformed"}}, number(counts.malformed));
  told.add({{"reason", "refused_by_server"}}, number(counts.refused));
  told.counter("reseq_sink_retried_total", "Writes that had to go again");
  told.add(number(counts.retried));
  told.counter("reseq_sink_batches_total", "Batches that are done");
  told.add(number(counts.batches));
  told.counter("reseq_sink_given_up_batches_total", "Batches that are done by somebody else, by reason");
  told.add({{"reason", "fenced"}}, number(counts.fenced));
  told.add({{"reason", "revoked"}}, number(counts.dropped));
}

void add_places(metrics::Exposition& told, const Places& places) {
  told.gauge("reseq_sink_lag_records",
             "Offsets between what is done and the end of the partition, control records counted");
  for (const auto& [partition, lag] : places.lag)
    told.add({{"partition", std::to_string(partition.value())}}, static_cast<double>(lag));
  told.gauge("reseq_sink_partitions", "Partitions that this instance reads");
  told.add(number(places.lag.size()));
  told.gauge("reseq_sink_batches_in_flight", "Batches that were read and are not done");
  told.add(number(places.batches_in_flight));
  told.gauge("reseq_sink_bytes_in_flight", "Their bytes in memory");
  told.add(number(places.bytes_in_flight));
  told.gauge("reseq_sink_oldest_unacknowledged_seconds", "Age of the oldest batch that is not done");
  told.add(static_cast<double>(places.oldest.count()) / 1000.0);
  told.gauge("reseq_sink_reading_paused", "1: nothing is read, because too much is on its way");
  told.add(places.resting ? 1 : 0);
}

}  // namespace

std::string metrics_text(const Counts& counts, const Standing& standing, const Places& places, const Away& brokers) {
  metrics::Exposition told;
  add_counters(told, counts);
  add_places(told, places);
  told.gauge("reseq_sink_server_up", "1: the server takes writes");
  told.add(standing.kind == Standing::Kind::kGood ? 1 : 0);
  told.gauge("reseq_sink_server_refuses", "1: the server refuses all writes until somebody mends something");
  told.add(standing.kind == Standing::Kind::kRefuses ? 1 : 0);
  told.gauge("reseq_sink_server_state_since_seconds", "When that began, in seconds since 1970");
  told.add(std::chrono::duration<double>(standing.since.time_since_epoch()).count());
  told.gauge("reseq_sink_brokers_away_seconds", "Since no broker answers; 0: they do");
  told.add(brokers ? static_cast<double>(brokers->lasts.value()) / 1000.0 : 0);
  return told.text();
}

http::Answer readiness(const Standing& standing, const Places& places, const Away& brokers) {
  if (standing.kind != Standing::Kind::kGood) {
    std::string body = "server " + std::string(name_of(standing.kind));
    if (!standing.words.empty()) body += ": " + standing.words;
    return {.status = kUnavailable, .body = body + "\n"};
  }
  if (brokers)
    return {.status = kUnavailable,
            .body = "brokers away for " + std::to_string(brokers->lasts.value() / 1000) + " s: " + brokers->why + "\n"};
  return {.status = 200, .body = "ready, " + std::to_string(places.lag.size()) + " partitions\n"};
}

http::Answer liveness(const Places& places, std::chrono::steady_clock::time_point now) {
  const bool has_begun = places.published != std::chrono::steady_clock::time_point{};
  if (!has_begun || now - places.published < kStuckAfter) return {.body = "live\n"};
  const auto stuck = std::chrono::duration_cast<std::chrono::seconds>(now - places.published);
  return {.status = kUnavailable,
          .body = "the reader has not gone round for " + std::to_string(stuck.count()) + " s\n"};
}

Result<std::unique_ptr<http::Server>> open_http(const std::string& listen, const Tally& tally,
                                                const kafka::BrokerWatch& brokers) {
  const std::size_t colon = listen.rfind(':');
  int port = 0;
  const char* end = listen.data() + listen.size();
  if (colon == std::string::npos || std::from_chars(listen.data() + colon + 1, end, port).ptr != end)
    return Error{ErrorClass::kInvalid, 0, "--http-listen " + listen + ": host:port is needed"};
  const std::vector<http::Path> paths = {
      {.path = "/metrics",
       .answer =
           [&](const http::Question&) {
             return http::Answer{.body = metrics_text(tally.counts(), tally.standing(), tally.places(), brokers.away()),
                                 .content_type = "text/plain; version=0.0.4; charset=utf-8"};
           }},
      {.path = "/livez",
       .answer = [&](const http::Question&) { return liveness(tally.places(), std::chrono::steady_clock::now()); }},
      {.path = "/readyz",
       .answer = [&](const http::Question&) { return readiness(tally.standing(), tally.places(), brokers.away()); }}};
  auto server = std::make_unique<http::Server>(paths);
  auto started = server->start(listen.substr(0, colon), port);
  if (!started) return Error{ErrorClass::kInvalid, 0, "--http-listen: " + started.error().message};
  return server;
}

}  // namespace reseq::remote
