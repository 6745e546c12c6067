// TargetIndex: where the documents of a target live, and how it is made and judged.
//
//   NAME             alias for those who search; its filter hides tombstones, and markers, which have their field as
//                    well. Made with the first index; moved to another generation by whoever decides that it has
//                    caught up
//   NAME-vN          the index, N = its generation
//   NAME-vN-write    alias of that index alone, what the sink writes to. A write has to find it (require_alias), so
//                    that an index that was deleted is missed, and not made anew with a mapping that somebody guessed
//
// A GET of one document goes past the filter of an alias: it sees tombstones.
// Thread rule: one thread per object; nothing is remembered.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "consumers/opensearch/http_client.h"

namespace reseq::opensearch {

struct IndexSettings {
  std::string name;
  std::uint32_t generation = 1;
  std::string refresh_interval{};  // as OpenSearch writes it, "5s"; empty: the server's. For an index that is made
  std::string body{};              // JSON: settings and mappings of the user for an index that is made
  bool hard_deletes = false;
};

// kInvalid: no index can have this name.
[[nodiscard]] Result<> check_name(const std::string& name);

class TargetIndex {
 public:
  explicit TargetIndex(IndexSettings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] const std::string& alias() const { return settings_.name; }
  [[nodiscard]] std::string index() const { return settings_.name + "-v" + std::to_string(settings_.generation); }
  [[nodiscard]] std::string write_alias() const { return index() + "-write"; }

  // Makes what is missing. Answers what somebody should know, a line each. kInvalid: what is there cannot be used.
  Result<std::vector<std::string>> prepare(HttpClient& client) const;

  // kInvalid: the write alias leads nowhere. Of deletes the server does not ask for it (require_alias): it would make
  // an index with the name of the alias, and say that nothing was there to delete.
  Result<> require_write_alias(HttpClient& client) const;

  // Why documents cannot be written now, in the server's words; "": they can. It is asked by writes that the server
  // cannot carry out (kPlaceOfNone): it refuses them for a block or for a right that this login lacks.
  enum class Trial : bool { kIndex, kIndexAndDelete };
  Result<std::string> why_not_writable(HttpClient& client, Trial trial) const;

  // No document and no tombstone is in it. False also where the server does not tell: a right is missing, or a part of
  // the index is away. What was written is made visible to all who search.
  Result<bool> is_empty(HttpClient& client) const;

  // What is there, and nothing is changed.
  struct State {
    bool reachable = false;
    std::string version;  // of the server
    bool exists = false;
    bool alias_exists = false;         // NAME leads to some index
    bool alias_leads_here = false;     // and to this one
    bool lacks_failures = false;       // an index of an older version: the field of markers is not mapped
    std::vector<std::string> faults;   // why it cannot be used; what helps is in the words
    std::vector<std::string> remarks;  // what somebody should know
  };
  Result<State> look(HttpClient& client) const;

 private:
  Result<nlohmann::json> ask(HttpClient& client, const std::string& path) const;
  Result<> change(HttpClient& client, Method method, const std::string& path, const std::string& body) const;
  Result<> look_at_names(HttpClient& client, State& state) const;
  Result<> look_at_index(HttpClient& client, State& state) const;
  void judge_aliases(const nlohmann::json& index, State& state) const;
  void judge_mapping(const nlohmann::json& properties, State& state) const;
  void judge_settings(const nlohmann::json& settings, State& state) const;
  Result<> make(HttpClient& client, bool with_alias) const;
  // Empty: it is mapped now. Otherwise what somebody should know, because markers are not found then.
  Result<std::string> map_failures(HttpClient& client) const;
  Result<std::string> creation_body(bool with_alias) const;

  IndexSettings settings_;
};

}  // namespace reseq::opensearch
