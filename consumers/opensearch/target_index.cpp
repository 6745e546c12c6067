#include "consumers/opensearch/target_index.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "consumers/opensearch/bulk_answer.h"
#include "consumers/opensearch/bulk_body.h"

namespace reseq::opensearch {
namespace {

using nlohmann::json;

constexpr std::size_t kNameBytesMax = 200;  // OpenSearch takes 255, with what is appended here

constexpr const char* kFailures = "reseq_failed";

// The note of a marker: words of an error are searched for, and whole errors are counted.
json field_of_failures() {
  return {{"dynamic", false},
          {"properties",
           {{"reason", {{"type", "keyword"}}},
            {"error", {{"type", "text"}, {"fields", {{"keyword", {{"type", "keyword"}}}}}}},
            {"attempts", {{"type", "long"}}},
            {"failed_at", {{"type", "date"}, {"ignore_malformed", true}}}}}};
}

// What the sink has to know of a document in fields. Nothing is searched for by reseq_id, it is only shown.
json our_fields() {
  return {{"reseq_deleted", {{"type", "boolean"}}},
          {"reseq_deleted_at", {{"type", "date"}, {"format", "epoch_millis"}}},
          {"reseq_id", {{"type", "keyword"}, {"index", false}, {"doc_values", false}}}};
}

json filter_of_tombstones() {
  return {{"bool", {{"must_not", {{"term", {{"reseq_deleted", true}}}}}}}};
}

// Of an answer that is no success.
Error error_of(const HttpClient& client, const std::string& path, const HttpAnswer& answer) {
  std::string words = AnswerReader().read_error(answer.body);
  if (words.empty()) words = "no words";
  std::string message = client.url() + " answers " + std::to_string(answer.status) + " to " + path + ": " + words;
  if (answer.status == 401) message += ". --user and its password, or the API key, are wrong or missing";
  if (answer.status == 403) message += ". This login lacks a right: docs/opensearch.md lists them";
  const bool for_a_while = verdict_of_status(answer.status) == Verdict::kAgain;
  return {.what_to_do = for_a_while ? ErrorClass::kRetriable : ErrorClass::kInvalid,
          .code = static_cast<int>(answer.status),
          .message = message};
}

// Member by member, as far as it is there.
json at(const json& from, std::initializer_list<const char*> names) {
  json found = from;
  for (const char* name : names) {
    if (!found.is_object() || !found.contains(name)) return {};
    json next = found[name];
    found = std::move(next);
  }
  return found;
}

// OpenSearch answers settings as text.
std::string text_at(const json& from, std::initializer_list<const char*> names) {
  const json found = at(from, names);
  if (found.is_string()) return found.get<std::string>();
  return found.is_null() ? std::string() : found.dump();
}

bool names(const json& list, const std::string& name) {
  return list.is_array() &&
         std::any_of(list.begin(), list.end(), [&](const json& one) { return text_at(one, {"name"}) == name; });
}

// Does the filter leave out what has reseq_deleted = true? In any of the ways in which it is written.
bool hides_tombstones(const json& filter) {
  const std::string text = filter.dump();
  return text.find("must_not") != std::string::npos && text.find("\"reseq_deleted\"") != std::string::npos;
}

}  // namespace

Result<> check_name(const std::string& name) {
  const bool has_bad = std::any_of(name.begin(), name.end(), [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.');
  });
  if (name.empty() || name.size() > kNameBytesMax || has_bad || name[0] == '-' || name[0] == '_' || name[0] == '.')
    return invalid(
        "--index is made of a-z 0-9 - _ . with a letter or digit first, at most 200 bytes: OpenSearch takes no other");
  return Done{};
}

Result<json> TargetIndex::ask(HttpClient& client, const std::string& path) const {
  Result<HttpAnswer> answer = client.send(Method::kGet, path);
  if (!answer) return answer.error();
  if (answer.value().status == 404) return json();
  if (answer.value().status != 200) return error_of(client, path, answer.value());
  json read = json::parse(answer.value().body, nullptr, false);
  if (!read.is_object())
    return invalid(client.url() + " answers " + path + " with something else than OpenSearch does: is it one?");
  return read;
}

Result<> TargetIndex::change(HttpClient& client, Method method, const std::string& path,
                             const std::string& body) const {
  Result<HttpAnswer> answer = client.send(method, path, body);
  if (!answer) return answer.error();
  if (answer.value().status == 200) return Done{};
  // Another instance was faster.
  if (answer.value().body.find("resource_already_exists_exception") != std::string_view::npos) return Done{};
  return error_of(client, path, answer.value());
}

Result<TargetIndex::State> TargetIndex::look(HttpClient& client) const {
  State state;
  Result<json> server = ask(client, "/");
  if (!server) return server.error();
  state.reachable = true;
  state.version = text_at(server.value(), {"version", "number"});
  const std::string distribution = text_at(server.value(), {"version", "distribution"});
  state.version = (distribution.empty() ? "Elasticsearch" : distribution) + " " + state.version;
  if (distribution.empty()) state.remarks.push_back(state.version + ": this sink was not tested with it");
  if (Result<> named = look_at_names(client, state); !named) return named.error();
  if (Result<> index = look_at_index(client, state); !index) return index.error();
  return state;
}

Result<> TargetIndex::look_at_names(HttpClient& client, State& state) const {
  Result<json> resolved = ask(client, "/_resolve/index/" + alias());
  if (!resolved) return resolved.error();
  if (names(at(resolved.value(), {"indices"}), alias()))
    state.faults.push_back("there is an index with the name " + alias() +
                           ", where an alias is needed that hides deleted documents: take another --index");
  if (names(at(resolved.value(), {"data_streams"}), alias()))
    state.faults.push_back(alias() +
                           " is a data stream: it takes no version with a document and replaces none, so an older "
                           "result would stand beside a newer one. Take another --index");
  state.alias_exists = names(at(resolved.value(), {"aliases"}), alias());
  return Done{};
}

Result<> TargetIndex::look_at_index(HttpClient& client, State& state) const {
  Result<json> found = ask(client, "/" + index());
  if (!found) return found.error();
  const json described = at(found.value(), {index().c_str()});
  state.exists = described.is_object();
  if (!state.exists) {
    if (Result<std::string> body = creation_body(!state.alias_exists); !body)
      state.faults.push_back(body.error().message);
    return Done{};
  }
  judge_aliases(described, state);
  judge_mapping(at(described, {"mappings", "properties"}), state);
  judge_settings(at(described, {"settings", "index"}), state);
  return Done{};
}

void TargetIndex::judge_aliases(const json& index_state, State& state) const {
  const json own = at(index_state, {"aliases", alias().c_str()});
  state.alias_leads_here = own.is_object();
  if (state.alias_leads_here && !hides_tombstones(at(own, {"filter"})))
    state.faults.push_back("the alias " + alias() + " does not hide deleted documents: give it the filter " +
                           filter_of_tombstones().dump());
  if (!state.alias_exists)
    state.remarks.push_back("there is no alias " + alias() + ": nobody finds the documents by it. Add it to " +
                            index() + " with the filter " + filter_of_tombstones().dump());
  if (state.alias_exists && !state.alias_leads_here)
    state.remarks.push_back("the alias " + alias() + " leads to another index than " + index() +
                            ": move it when this one has caught up");
  if (!at(index_state, {"aliases", write_alias().c_str()}).is_object())
    state.faults.push_back("the index " + index() + " has no alias " + write_alias() +
                           ", so this sink has not made it: take another --index, or add the alias");
}

void TargetIndex::judge_mapping(const json& properties, State& state) const {
  const json fields = our_fields();
  for (const auto& [field, wanted] : fields.items()) {
    const std::string type = text_at(properties, {field.c_str(), "type"});
    if (type == wanted["type"].get<std::string>()) continue;
    state.faults.push_back("the field " + field + " of " + index() + " is mapped as " +
                           (type.empty() ? "nothing" : type) + " and has to be " + wanted["type"].get<std::string>() +
                           ": load a new --generation");
  }
  state.lacks_failures = !properties.contains(kFailures);
  const std::string error = text_at(properties, {kFailures, "properties", "error", "type"});
  if (!state.lacks_failures && error != "text")
    state.faults.push_back("the field reseq_failed.error of " + index() + " is mapped as " +
                           (error.empty() ? "nothing" : error) + " and has to be text: load a new --generation");
}

void TargetIndex::judge_settings(const json& settings, State& state) const {
  if (text_at(settings, {"verified_before_close"}) == "true")
    state.faults.emplace_back("the index " + index() + " is closed: open it");
  if (text_at(settings, {"translog", "durability"}) == "async")
    state.remarks.emplace_back(
        "index.translog.durability is async: a server that dies forgets what it has acknowledged");
  if (!settings_.hard_deletes) return;
  std::string gc = text_at(settings, {"gc_deletes"});
  if (gc.empty()) gc = "60s, the server's default";
  state.remarks.push_back("hard deletes: the server forgets the version of a delete after index.gc_deletes (" + gc +
                          ") or when it starts again. An older result that comes later than that brings the document "
                          "back");
}

Result<std::vector<std::string>> TargetIndex::prepare(HttpClient& client) const {
  Result<State> state = look(client);
  if (!state) return state.error();
  if (state.value().faults.empty() && !state.value().exists) {
    if (Result<> made = make(client, !state.value().alias_exists); !made) return made.error();
    state = look(client);
    if (!state) return state.error();
  }
  if (!state.value().faults.empty()) return invalid(state.value().faults.front());
  if (state.value().lacks_failures) {
    Result<std::string> remark = map_failures(client);
    if (!remark) return remark.error();
    if (!remark.value().empty()) state.value().remarks.push_back(std::move(remark).value());
  }
  return state.value().remarks;
}

Result<std::string> TargetIndex::map_failures(HttpClient& client) const {
  const json body = {{"properties", {{kFailures, field_of_failures()}}}};
  Result<> mapped = change(client, Method::kPut, "/" + index() + "/_mapping", body.dump());
  if (mapped) return std::string();
  if (mapped.error().what_to_do != ErrorClass::kInvalid) return mapped.error();
  return "the field reseq_failed cannot be mapped, so that what failed is perhaps not found by it: " +
         mapped.error().message;
}

Result<> TargetIndex::require_write_alias(HttpClient& client) const {
  const std::string path = "/_alias/" + write_alias();
  Result<HttpAnswer> answer = client.send(Method::kGet, path);
  if (!answer) return answer.error();
  if (answer.value().status != 200) return error_of(client, path, answer.value());
  return Done{};
}

Result<std::string> TargetIndex::why_not_writable(HttpClient& client, Trial trial) const {
  // A pipeline of the index has no part in it, and an answer is not waited for as long as a real write would be.
  const std::string path = "/" + write_alias() + "/_bulk?require_alias=true&pipeline=_none&timeout=5s";
  const std::string place(kPlaceOfNone);
  std::string body = R"({"index":)" + place + "}\n{}\n";
  if (trial == Trial::kIndexAndDelete) body += R"({"delete":)" + place + "}\n";
  Result<HttpAnswer> answer = client.send(Method::kPost, path, body);
  if (!answer) return answer.error();
  if (answer.value().status != 200) return error_of(client, "/" + write_alias() + "/_bulk", answer.value());
  std::vector<ItemAnswer> items(trial == Trial::kIndexAndDelete ? 2 : 1);
  if (Result<> read = AnswerReader().read_items(answer.value().body, items); !read) return read.error();
  for (const ItemAnswer& item : items) {
    if (item.verdict == Verdict::kAgain)
      return item.words + ". The sink waits until that is over: lift the block, or make room on the disk";
    if (item.verdict == Verdict::kUnusable && item.status == 403)
      return item.words + ". This login lacks a right: docs/opensearch.md lists them";
    if (item.verdict == Verdict::kUnusable) return item.words;
  }
  return std::string();
}

Result<bool> TargetIndex::is_empty(HttpClient& client) const {
  // Before a refresh a search does not find what was written last, which may be all.
  Result<HttpAnswer> answer = client.send(Method::kPost, "/" + write_alias() + "/_refresh");
  if (answer && answer.value().status == 200)
    answer = client.send(Method::kPost,
                         "/" + write_alias() + "/_search?size=0&track_total_hits=1&allow_partial_search_results=false");
  if (!answer) return answer.error();
  if (answer.value().status != 200) return false;
  return at(json::parse(answer.value().body, nullptr, false), {"hits", "total", "value"}) == 0;
}

Result<> TargetIndex::make(HttpClient& client, bool with_alias) const {
  Result<std::string> body = creation_body(with_alias);
  if (!body) return body.error();
  return change(client, Method::kPut, "/" + index(), body.value());
}

Result<std::string> TargetIndex::creation_body(bool with_alias) const {
  json body = settings_.body.empty() ? json::object() : json::parse(settings_.body, nullptr, false);
  if (!body.is_object()) return invalid("--index-body is no JSON object");
  for (const auto& [name, value] : body.items())
    if ((name != "settings" && name != "mappings") || !value.is_object())
      return invalid("--index-body holds the objects \"settings\" and \"mappings\", nothing else");
  if (body["mappings"].is_null()) body["mappings"] = json::object();
  json& properties = body["mappings"]["properties"];
  if (properties.is_null()) properties = json::object();
  if (!properties.is_object()) return invalid("\"properties\" of the mappings in --index-body is no object");
  properties.update(our_fields());
  properties[kFailures] = field_of_failures();
  if (!settings_.refresh_interval.empty()) body["settings"]["index.refresh_interval"] = settings_.refresh_interval;
  body["aliases"][write_alias()] = json::object();
  if (with_alias) body["aliases"][alias()] = {{"filter", filter_of_tombstones()}};
  return body.dump();
}

}  // namespace reseq::opensearch
