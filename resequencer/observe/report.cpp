#include "observe/report.h"

#include <utility>

#include "admin/document_json.h"
#include "metrics/exposition.h"

namespace reseq::observe {

namespace {

constexpr std::size_t kWorstMax = 20;

Json by_reason(const CountsOfReasons& counts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != 0) json[std::string(name_of(static_cast<Reason>(i)))] = counts[i];
  return json;
}

Json by_row(const CountsOfRows& counts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != 0) json[std::string(name_of(static_cast<TableRow>(i)))] = counts[i];
  return json;
}

Json distribution(const metrics::Histogram& histogram, std::uint64_t max) {
  return {{"count", histogram.count()},
          {"p50", std::min(quantile(histogram, 0.5), max)},
          {"p99", std::min(quantile(histogram, 0.99), max)},
          {"max", max},
          {"buckets", histogram_json(histogram)}};
}

Json topic_json(const TopicSeen& topic, std::uint64_t records) {
  return {{"topic", topic.name}, {"partitions", topic.partitions}, {"records", records}, {"left", topic.left}};
}

Json worst_json(const TopList& worst) {
  Json all = Json::array();
  for (const TopList::Entry& entry : worst.highest(kWorstMax)) {
    Json one = Json::object();
    admin::set_bytes(one, "id", entry.name);
    one["stale_writes"] = entry.count;
    if (entry.error != 0) one["at_most_too_high_by"] = entry.error;
    all.push_back(std::move(one));
  }
  return all;
}

Json advice_json(const std::vector<Advice>& advice) {
  Json all = Json::array();
  for (const Advice& one : advice) {
    Json json = {{"level", one.level}, {"code", one.code}, {"what", one.what}};
    if (!one.why.empty()) json["why"] = one.why;
    if (!one.setting.empty()) json["setting"] = one.setting;
    if (!one.value.empty()) json["value"] = one.value;
    all.push_back(std::move(json));
  }
  return all;
}

// What this report cannot know, of this observation.
Json unknown_json(const Seen& seen, const config::Settings& s) {
  Json all = Json::array();
  all.push_back(
      "Arrival order between the input and the output: the two are merged by the timestamps of their records, and at a "
      "result without a request the input is read on for " +
      std::to_string(s.max_clock_drift_ms) +
      " ms of timestamps. superseded, unregistered and answer_ms rest on that; stale writes and duplicates do not.");
  all.push_back("What the sink did with a record: one that compares versions may have ignored a stale write.");
  if (s.observe_from != "beginning")
    all.push_back(
        "What was written before the observer began: the first result that it sees of a document counts as in order, "
        "and the requests of results that were under way count as missing.");
  if (seen.lost != 0)
    all.push_back(std::to_string(seen.lost) + " offsets were deleted by retention before they were read.");
  if (seen.tally.without_timestamp != 0)
    all.push_back(std::to_string(seen.tally.without_timestamp) +
                  " records have no timestamp and took that of the record before them.");
  return all;
}

}  // namespace

Json report_json(const Seen& seen, const config::Settings& s) {
  const Tally& t = seen.tally;
  Json report = {{"format", 1},
                 {"state", seen.running ? "running" : "stopped"},
                 {"began", admin::time_text(seen.began)},
                 {"written", admin::time_text(seen.written)},
                 {"from", s.observe_from}};
  report["input"] = topic_json(seen.input, t.requests);
  report["output"] = topic_json(seen.output, t.results + t.other_commands);
  if (t.first.value() != 0)
    report["timestamps"] = {{"first", admin::time_text(t.first)}, {"last", admin::time_text(t.last)}};
  report["results"] = {{"total", t.results},
                       {"in_order", t.in_order},
                       {"out_of_order", t.out_of_order},
                       {"duplicates", t.duplicates},
                       {"withdrawn", t.withdrawn},
                       {"refused", by_reason(t.results_refused)},
                       {"table_rows", by_row(t.table_rows)}};
  report["would_have_stopped"] = {
      {"stale_writes", t.out_of_order}, {"duplicates", t.duplicates}, {"superseded_by_timestamps", t.superseded}};
  report["unregistered_by_timestamps"] = t.unregistered;
  report["requests"] = {{"total", t.requests},
                        {"registered", t.registered},
                        {"repeated", t.repeated},
                        {"behind", t.behind},
                        {"reused", t.reused},
                        {"resets", t.resets},
                        {"refused", by_reason(t.requests_refused)}};
  report["documents"] = {{"waiting", seen.waiting}, {"answered", seen.answered}};
  if (seen.wrong)
    report["wrong_now"] = {
        {"overwritten", seen.wrong->overwritten}, {"missing", seen.wrong->missing}, {"file", s.observe_wrong_file}};
  report["worst"] = worst_json(t.worst);
  report["lateness_ms"] = distribution(t.lateness_ms, static_cast<std::uint64_t>(t.lateness_ms_max));
  report["reorder_distance"] = distribution(t.reorder_distance, t.reorder_distance_max);
  report["answer_ms"] =
      distribution(t.answer_ms, static_cast<std::uint64_t>(std::max<std::int64_t>(0, t.answer_ms_max)));
  report["advice"] = advice_json(advice_for(seen, s));
  report["unknown"] = unknown_json(seen, s);
  return report;
}

std::string observed_metrics(const Seen& seen) {
  const Tally& t = seen.tally;
  const auto number = [](auto value) { return static_cast<double>(value); };
  metrics::Exposition out;
  out.counter("reseq_observed_records_total", "Records read.");
  out.add({{"topic", "input"}}, number(t.requests));
  out.add({{"topic", "output"}}, number(t.results + t.other_commands));
  out.counter("reseq_observed_results_total", "Records of the output, by how they stand to those before them.");
  out.add({{"order", "in_order"}}, number(t.in_order));
  out.add({{"order", "out_of_order"}}, number(t.out_of_order));
  out.add({{"order", "duplicate"}}, number(t.duplicates));
  out.add({{"order", "withdrawn"}}, number(t.withdrawn));
  out.counter("reseq_observed_superseded_total", "Results in order for which a newer request was there already.");
  out.add(number(t.superseded));
  out.counter("reseq_observed_unregistered_total", "Results whose request was not read before them.");
  out.add(number(t.unregistered));
  out.counter("reseq_observed_refused_total", "Records that could not be used.");
  out.add({{"topic", "input"}}, number(sum_of(t.requests_refused)));
  out.add({{"topic", "output"}}, number(sum_of(t.results_refused)));
  out.histogram("reseq_observed_lateness_seconds", "Stale writes: time since the newer one, by timestamps.");
  out.add({}, t.lateness_ms, 0.001);
  out.histogram("reseq_observed_reorder_distance", "Stale writes: sequence numbers behind the newest written.");
  out.add({}, t.reorder_distance, 1);
  out.gauge("reseq_observed_left_offsets", "Offsets that are there and not read yet.");
  out.add({{"topic", "input"}}, number(seen.input.left));
  out.add({{"topic", "output"}}, number(seen.output.left));
  out.gauge("reseq_observed_documents", "Documents, by whether a result is outstanding.");
  out.add({{"state", "waiting"}}, number(seen.waiting));
  out.add({{"state", "answered"}}, number(seen.answered));
  return out.text();
}

}  // namespace reseq::observe
