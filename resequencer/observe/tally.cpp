#include "observe/tally.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace reseq::observe {

namespace {

using metrics::Histogram;

struct Count {
  const char* name;
  std::uint64_t Tally::*place;
};
constexpr Count kCounts[] = {{"requests", &Tally::requests},
                             {"registered", &Tally::registered},
                             {"repeated", &Tally::repeated},
                             {"behind", &Tally::behind},
                             {"reused", &Tally::reused},
                             {"resets", &Tally::resets},
                             {"results", &Tally::results},
                             {"in_order", &Tally::in_order},
                             {"out_of_order", &Tally::out_of_order},
                             {"duplicates", &Tally::duplicates},
                             {"withdrawn", &Tally::withdrawn},
                             {"superseded", &Tally::superseded},
                             {"unregistered", &Tally::unregistered},
                             {"other_commands", &Tally::other_commands},
                             {"other_commands_bad", &Tally::other_commands_bad},
                             {"without_timestamp", &Tally::without_timestamp},
                             {"reorder_distance_max", &Tally::reorder_distance_max}};

struct Distribution {
  const char* name;
  Histogram Tally::*place;
};
constexpr Distribution kDistributions[] = {{"lateness_ms", &Tally::lateness_ms},
                                           {"reorder_distance", &Tally::reorder_distance},
                                           {"answer_ms", &Tally::answer_ms}};

Json exact(const Histogram& histogram) {
  Json counts = Json::array();
  for (std::size_t i = 0; i < Histogram::kBuckets; ++i) counts.push_back(histogram.in_bucket(i));
  return {{"counts", std::move(counts)}, {"sum", histogram.sum()}};
}

Histogram histogram_from(const Json& json) {
  std::array<std::uint64_t, Histogram::kBuckets> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = json.at("counts").at(i).get<std::uint64_t>();
  return Histogram(counts, json.at("sum").get<std::uint64_t>());
}

Json routing_json(const Routing& routing) {
  return {{"with_id", routing.with_id},
          {"keyed_by_id", routing.keyed_by_id},
          {"murmur2", routing.murmur2},
          {"crc32", routing.crc32}};
}

Routing routing_from(const Json& json) {
  return {json.at("with_id").get<std::uint64_t>(), json.at("keyed_by_id").get<std::uint64_t>(),
          json.at("murmur2").get<std::uint64_t>(), json.at("crc32").get<std::uint64_t>()};
}

}  // namespace

std::uint64_t sum_of(const CountsOfReasons& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

Json to_json(const Tally& tally) {
  Json json;
  for (const Count& count : kCounts) json[count.name] = tally.*count.place;
  for (const Distribution& one : kDistributions) json[one.name] = exact(tally.*one.place);
  json["requests_refused"] = tally.requests_refused;
  json["results_refused"] = tally.results_refused;
  json["table_rows"] = tally.table_rows;
  json["input_routing"] = routing_json(tally.input_routing);
  json["output_routing"] = routing_json(tally.output_routing);
  json["first"] = tally.first.value();
  json["last"] = tally.last.value();
  json["lateness_ms_max"] = tally.lateness_ms_max;
  json["answer_ms_max"] = tally.answer_ms_max;
  Json& worst = json["worst"] = Json::array();
  for (const TopList::Entry& entry : tally.worst.highest(TopList::kEntriesMax)) {
    // Ids are any bytes; JSON text is not.
    std::vector<std::uint8_t> bytes(entry.name.begin(), entry.name.end());
    worst.push_back({{"name", std::move(bytes)}, {"count", entry.count}, {"error", entry.error}});
  }
  return json;
}

Tally from_json(const Json& json) {
  Tally tally;
  for (const Count& count : kCounts) tally.*count.place = json.at(count.name).get<std::uint64_t>();
  for (const Distribution& one : kDistributions) tally.*one.place = histogram_from(json.at(one.name));
  tally.requests_refused = json.at("requests_refused").get<CountsOfReasons>();
  tally.results_refused = json.at("results_refused").get<CountsOfReasons>();
  tally.table_rows = json.at("table_rows").get<CountsOfRows>();
  tally.input_routing = routing_from(json.at("input_routing"));
  tally.output_routing = routing_from(json.at("output_routing"));
  tally.first = UnixMs(json.at("first").get<std::int64_t>());
  tally.last = UnixMs(json.at("last").get<std::int64_t>());
  tally.lateness_ms_max = json.at("lateness_ms_max").get<std::int64_t>();
  tally.answer_ms_max = json.at("answer_ms_max").get<std::int64_t>();
  for (const Json& entry : json.at("worst")) {
    const auto bytes = entry.at("name").get<std::vector<std::uint8_t>>();
    tally.worst.put({std::string(bytes.begin(), bytes.end()), entry.at("count").get<std::uint64_t>(),
                     entry.at("error").get<std::uint64_t>()});
  }
  return tally;
}

Json histogram_json(const Histogram& histogram) {
  Json buckets = Json::array();
  for (std::size_t i = 0; i < Histogram::kBuckets; ++i) {
    if (histogram.in_bucket(i) == 0) continue;
    Json bucket = {{"count", histogram.in_bucket(i)}};
    if (i + 1 < Histogram::kBuckets) bucket["le"] = Histogram::upper(i);
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

std::uint64_t quantile(const Histogram& histogram, double part) {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(static_cast<double>(histogram.count()) * part));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < Histogram::kBuckets; ++i) {
    seen += histogram.in_bucket(i);
    if (seen >= wanted && seen > 0) return Histogram::upper(i);
  }
  return 0;
}

}  // namespace reseq::observe
