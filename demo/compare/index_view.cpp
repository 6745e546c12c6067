#include <nlohmann/json.hpp>
#include <utility>

#include "codec/base64.h"
#include "consumers/opensearch/http_client.h"
#include "demo/compare/loaded_view.h"

namespace reseq::demo {
namespace {

using nlohmann::json;
using opensearch::HttpAnswer;
using opensearch::HttpClient;
using opensearch::Method;

constexpr std::size_t kPage = 100;

Result<json> ask(HttpClient& client, const std::string& path, const std::string& body) {
  Result<HttpAnswer> answer = client.send(Method::kPost, path, body);
  if (!answer) return answer.error();
  json read = json::parse(answer.value().body, nullptr, false);
  if (answer.value().status == 200 && read.is_object()) return read;
  return Error{.message = client.url() + " answers " + std::to_string(answer.value().status) + " to " + path};
}

// Where `_id` is not the id itself, the field reseq_id has it with %xx for most bytes.
std::string id_of(const json& hit) {
  const std::string text = hit.value("/_source/reseq_id"_json_pointer, "");
  if (text.empty()) return hit.value("_id", "");
  std::string id;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool spelled = text[at] == '%' && at + 2 < text.size();
    id += spelled ? static_cast<char>(std::stoi(text.substr(at + 1, 2), nullptr, 16)) : text[at];
    at += spelled ? 2 : 0;
  }
  return id;
}

std::string payload_of(const json& hit) {
  const std::string bytes = hit.value("/_source/base64"_json_pointer, "");
  return bytes.empty() ? hit.value("/_source/text"_json_pointer, "") : codec::parse_base64(bytes).value_or("");
}

}  // namespace

Result<std::unique_ptr<SinkView>> view_index(const std::string& url, const std::string& alias) {
  Result<std::unique_ptr<HttpClient>> client = HttpClient::open({.urls = {url}});
  if (!client) return client.error();
  if (Result<json> seen = ask(*client.value(), "/" + alias + "/_refresh", ""); !seen) return seen.error();
  LoadedView::Documents documents;
  json question = {{"size", kPage}, {"sort", {{{"_doc", "asc"}}}}};
  while (true) {
    Result<json> page = ask(*client.value(), "/" + alias + "/_search", question.dump());
    if (!page) return page.error();
    const json hits = page.value().value("/hits/hits"_json_pointer, json::array());
    for (const json& hit : hits) documents[id_of(hit)] = payload_of(hit);
    if (hits.size() < kPage) return std::unique_ptr<SinkView>(std::make_unique<LoadedView>(std::move(documents)));
    question["search_after"] = hits.back()["sort"];
  }
}

}  // namespace reseq::demo
