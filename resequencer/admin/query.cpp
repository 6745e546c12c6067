#include "admin/query.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "admin/document_json.h"
#include "admin/json_text.h"
#include "base/utf8.h"
#include "codec/base64.h"
#include "model/command.h"
#include "model/row.h"

namespace reseq::admin {

namespace {

constexpr std::array<std::string_view, 5> kQueryNames = {"document", "list", "stats", "topology", "config"};
constexpr std::array<std::string_view, 12> kStateNames = {"any",       "live",    "overdue",    "starving",
                                                          "completed", "waiting", "processing", "stuck",
                                                          "retrying",  "failed",  "held",       "gap"};
constexpr std::array<std::string_view, static_cast<std::size_t>(Refusal::kCount)> kRefusalNames = {
    "malformed_request", "unsupported_protocol", "unknown_query", "no_such_partition", "not_ready", "timeout", "fault"};

// Reads the members of one object. The first thing that is wrong stays.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  std::string text(const char* name, std::string otherwise) {
    const Json* member = find(name);
    if (member == nullptr) return otherwise;
    if (!member->is_string()) return wrong(name, "must be a text"), otherwise;
    return member->get<std::string>();
  }
  std::int64_t number(const char* name, std::int64_t otherwise, std::int64_t least, std::int64_t most) {
    const Json* member = find(name);
    if (member == nullptr) return otherwise;
    const bool is_one = member->is_number_integer();
    // What is larger than an int64 would come back as something else.
    const bool fits = is_one && !(member->is_number_unsigned() && member->get<std::uint64_t>() > INT64_MAX);
    const std::int64_t value = fits ? member->get<std::int64_t>() : 0;
    if (!fits || value < least || value > most)
      return wrong(name, "must be a number, " + std::to_string(least) + " to " + std::to_string(most)), otherwise;
    return value;
  }
  // Bytes: as `name` when they are UTF-8, as `name`_base64 otherwise.
  std::optional<std::string> bytes(const std::string& name) {
    const std::string base64_name = name + "_base64";
    const bool is_text = find(name.c_str()) != nullptr;
    if (is_text && find(base64_name.c_str()) != nullptr)
      wrong(name.c_str(), "is said twice: as " + name + " or as " + base64_name);
    if (is_text) return text(name.c_str(), "");
    if (find(base64_name.c_str()) == nullptr) return std::nullopt;
    auto value = codec::parse_base64(text(base64_name.c_str(), ""));
    if (!value) wrong(base64_name.c_str(), "must be base64");
    return value;
  }
  void wrong(const char* name, const std::string& why) {
    if (trouble_.empty()) trouble_ = std::string(name) + " " + why;
  }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  [[nodiscard]] const Json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  const Json& object_;
  std::string trouble_;
};

State state_named(const std::string& name, Members& members) {
  for (std::size_t i = 0; i < kStateNames.size(); ++i)
    if (kStateNames[i] == name) return static_cast<State>(i);
  members.wrong("state",
                "must be any, live, overdue, starving, completed, waiting, processing, stuck, retrying, failed, held "
                "or gap");
  return State::kAny;
}

std::optional<Query> query_named(const std::string& name, Members& members) {
  if (name == "stats") return StatsQuery{};
  if (name == "topology") return TopologyQuery{};
  if (name == "config") return ConfigQuery{};
  if (name == "document") {
    const std::string id = members.bytes("id").value_or("");
    if (id.empty() || id.size() > kMaxIdBytes) members.wrong("id", "must be there and have 1 to 4096 bytes");
    return DocumentQuery{id};
  }
  if (name != "list") return std::nullopt;
  ListQuery list;
  const std::int64_t partition = members.number("partition", -1, 0, INT32_MAX);
  if (partition >= 0) list.partition = Partition(static_cast<std::int32_t>(partition));
  list.id_prefix = members.bytes("id_prefix").value_or("");
  if (list.id_prefix.size() > kMaxIdBytes) members.wrong("id_prefix", "must have at most 4096 bytes");
  list.state = state_named(members.text("state", "any"), members);
  list.older_than = Milliseconds(members.number("older_than_ms", 0, 0, INT64_MAX));
  list.error.part = members.bytes("error").value_or("");
  if (list.error.part.size() > kMaxErrorBytes) members.wrong("error", "must have at most 1024 bytes");
  list.error.shown = members.bytes("error_is");
  if (list.error.shown && list.error.shown->size() > kMaxErrorBytes)
    members.wrong("error_is", "must have at most 1024 bytes");
  if (!list.error.is_any() && !is_of_failures(list.state))
    members.wrong(list.error.shown ? "error_is" : "error", "is for state retrying or failed");
  list.documents_max = static_cast<std::size_t>(
      members.number("documents_max", kPageDocumentsDefault, 1, static_cast<std::int64_t>(kPageDocumentsMax)));
  const auto cursor = codec::parse_base64(members.text("cursor", ""));
  if (!cursor) members.wrong("cursor", "must be one that came with a page");
  list.cursor = cursor.value_or("");
  if (!list.cursor.empty() && !list.partition) members.wrong("cursor", "belongs to a partition, which must be there");
  return list;
}

}  // namespace

bool WantedError::fits(std::string_view error) const {
  if (error.find(part) == std::string_view::npos) return false;
  return !shown || error == *shown || cut_at_character(error, kShownErrorBytes) == *shown;
}

std::string_view name_of(State state) {
  return kStateNames[static_cast<std::size_t>(state)];
}

std::string_view name_of(const Query& query) {
  return kQueryNames[query.index()];
}

std::string_view name_of(Refusal refusal) {
  return kRefusalNames[static_cast<std::size_t>(refusal)];
}

std::variant<Request, Refused> parse_request(std::string_view json) {
  if (json.size() > kRequestBytesMax)
    return Refused{Refusal::kMalformedRequest, "a request has at most " + std::to_string(kRequestBytesMax) + " bytes"};
  const Json object = parse_object(json);
  if (object.is_discarded()) return Refused{Refusal::kMalformedRequest, "a request is one JSON object"};
  Members members(object);
  const std::int64_t protocol = members.number("protocol", 0, 1, INT32_MAX);
  if (protocol > kProtocol)
    return Refused{Refusal::kUnsupportedProtocol, "this instance speaks protocol " + std::to_string(kProtocol)};
  if (protocol == 0) members.wrong("protocol", "must be there");
  const std::string name = members.text("query", "");
  Request request;
  request.timeout = Milliseconds(members.number("timeout_ms", kTimeoutDefault.value(), 1, kTimeoutMax.value()));
  auto query = query_named(name, members);
  if (!members.trouble().empty()) return Refused{Refusal::kMalformedRequest, members.trouble()};
  if (!query) return Refused{Refusal::kUnknownQuery, "this instance knows document, list, stats, topology and config"};
  request.query = std::move(*query);
  return request;
}

std::string write_request(const Request& request) {
  Json object = {{"protocol", kProtocol}, {"query", name_of(request.query)}, {"timeout_ms", request.timeout.value()}};
  if (const auto* document = std::get_if<DocumentQuery>(&request.query)) set_bytes(object, "id", document->id);
  if (const auto* list = std::get_if<ListQuery>(&request.query)) {
    if (list->partition) object["partition"] = list->partition->value();
    if (!list->id_prefix.empty()) set_bytes(object, "id_prefix", list->id_prefix);
    object["state"] = name_of(list->state);
    object["older_than_ms"] = list->older_than.value();
    if (!list->error.part.empty()) set_bytes(object, "error", list->error.part);
    if (list->error.shown) set_bytes(object, "error_is", *list->error.shown);
    object["documents_max"] = list->documents_max;
    if (!list->cursor.empty()) object["cursor"] = codec::base64(list->cursor);
  }
  return object.dump();
}

}  // namespace reseq::admin
