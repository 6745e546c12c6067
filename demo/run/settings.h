// Settings of one run of the demo: what the user asked for, and the names that follow from it. The demo has two
// targets: `search`, an SQLite file with a full-text index, an index of OpenSearch or a table of PostgreSQL, and
// `catalogue`, a directory with a file per document. Where it is about targets that get every version, `history`
// (strict) and `audit` (total) are there instead of the catalogue; they have no sink, their topics are read.
// Thread rule: plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kafka/settings.h"

namespace reseq::demo {

struct Settings {
  std::string repository;  // a git repository, bare or not
  std::string revision = "HEAD";
  std::string bootstrap_servers;
  kafka::Properties librdkafka;  // a login; what is started finds it in the environment, too
  std::string application_id;    // of this run alone: its topics and groups start empty
  std::string programs;          // folder of the programs that are started
  std::string work_folder;       // configuration files, logs, progress files
  std::string out_folder;        // search.db, catalogue/ and report.json; empty = kept nowhere
  std::string intake = "inline";
  std::string sink = "sqlite";  // of the target search; or opensearch, postgres
  std::string search_url;       // of that server
  std::uint64_t workers = 8;
  std::uint64_t seed = 1;
  std::uint64_t processes = 1;
  std::uint64_t requests_per_second = 500;
  std::string dispatch;   // of the resequencer, journal or immediate; empty: the demo is not about that
  bool failures = false;  // the demo is about work that fails
  bool orders = false;    // the demo is about targets that get every version
  bool require_scramble = false;
  bool delete_topics = false;  // at the end, whatever it was

  static constexpr const char* kSearch = "search";
  static constexpr const char* kCatalogue = "catalogue";
  static constexpr const char* kHistory = "history";
  static constexpr const char* kAudit = "audit";

  // Where the demo is about dispatch: documents under way, in all partitions together, and how long a lease is. It is
  // also how long the group waits for a worker: what a worker that died had is given back when its partitions are.
  static constexpr std::uint64_t kUnderWay = 200;
  static constexpr std::uint64_t kLeaseMs = 6'000;
  // Where work fails: how often it is tried again.
  static constexpr std::uint64_t kRetriesMax = 5;
  // Where versions are lost: for how long one is waited for. Three times as long as a result takes: on a machine that
  // stands still for seconds nothing is to be skipped that was not lost.
  static constexpr std::uint64_t kGapTimeoutMs = 30'000;

  [[nodiscard]] std::vector<std::string> targets() const {
    if (orders) return {kSearch, kHistory, kAudit};
    return {kSearch, kCatalogue};
  }
  [[nodiscard]] std::vector<std::string> targets_with_sinks() const {
    if (orders) return {kSearch};
    return targets();
  }
  // Those that get every version.
  [[nodiscard]] std::vector<std::string> ordered_targets() const {
    if (orders) return {kHistory, kAudit};
    return {};
  }
  // Sinks without the resequencer run beside those behind it.
  [[nodiscard]] bool unchecked_too() const { return dispatch.empty() && !orders; }
  // With intake tap the pipeline reads the requests itself.
  [[nodiscard]] bool tap() const { return intake == "tap"; }
  [[nodiscard]] std::string pipeline_topic() const { return topic(tap() ? "requests" : "work"); }
  [[nodiscard]] std::string topic(const std::string& role) const { return application_id + "." + role; }
  [[nodiscard]] std::string output_topic(const std::string& target) const { return topic("output." + target); }
  [[nodiscard]] std::string pipeline_group() const { return application_id + ".pipeline"; }
  [[nodiscard]] std::string in_work(const std::string& name) const { return work_folder + "/" + name; }
  [[nodiscard]] std::string program(const std::string& name) const { return programs + "/" + name; }
  // Without --out the result lives in the work folder, which its owner removes.
  [[nodiscard]] std::string result_folder() const { return out_folder.empty() ? work_folder : out_folder; }
  // What the pipeline takes for the state of the search engine.
  [[nodiscard]] std::string engine_file() const { return in_work("search-engine"); }
  [[nodiscard]] std::string checked_database() const { return result_folder() + "/search.db"; }
  [[nodiscard]] std::string unchecked_database() const { return in_work("unchecked.db"); }
  [[nodiscard]] std::string checked_directory() const { return result_folder() + "/catalogue"; }
  [[nodiscard]] std::string unchecked_directory() const { return in_work("unchecked-catalogue"); }
  [[nodiscard]] bool opensearch() const { return sink == "opensearch"; }
  [[nodiscard]] bool postgres() const { return sink == "postgres"; }
  [[nodiscard]] std::string checked_index() const { return application_id + "-search"; }
  [[nodiscard]] std::string unchecked_index() const { return application_id + "-unchecked"; }
  // A dot would divide a schema from its table.
  [[nodiscard]] std::string table(bool checked) const {
    std::string name = checked ? checked_index() : unchecked_index();
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
  }
  // Every worker of the pipeline needs one, where it reads the requests. The order of a partition is that of everything
  // where there is one.
  [[nodiscard]] std::uint64_t partitions() const {
    if (orders) return 1;
    return tap() && workers > 4 ? workers : 4;
  }
  // At least two per worker, so that every worker of the group gets some.
  [[nodiscard]] std::uint64_t work_partitions() const { return workers * 2 < 16 ? 16 : workers * 2; }
};

}  // namespace reseq::demo
