#include "consumers/opensearch/sweep.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "consumers/opensearch/bulk_answer.h"
#include "consumers/opensearch/bulk_body.h"
#include "consumers/opensearch/bulk_writer.h"

namespace reseq::opensearch {
namespace {

using nlohmann::json;

constexpr int kPage = 1'000;

// Without scores and in no order: each page is gone before the next one is asked for.
std::string question(UnixMs older_than) {
  const json filter = json::array(
      {{{"term", {{"reseq_deleted", true}}}}, {{"range", {{"reseq_deleted_at", {{"lt", older_than.value()}}}}}}});
  return json{{"size", kPage},
              {"version", true},
              {"_source", false},
              {"track_total_hits", false},
              {"query", {{"bool", {{"filter", filter}}}}}}
      .dump();
}

// Fills `body` with the deletes of a page.
Result<> read_page(const HttpClient& client, std::string_view text, BulkBody& body) {
  const Error strange{.what_to_do = ErrorClass::kRetriable,
                      .message = client.url() + " answers a search with something else than hits"};
  const json answer = json::parse(text, nullptr, false);
  if (!answer.is_object()) return strange;
  const json hits = answer.value("/hits/hits"_json_pointer, json::array());
  if (!hits.is_array()) return strange;
  for (const json& hit : hits) {
    if (!hit.is_object() || !hit.contains("_id") || !hit.contains("_version")) return strange;
    if (!hit["_id"].is_string() || !hit["_version"].is_number_unsigned()) return strange;
    body.add_delete(hit["_id"].get_ref<const std::string&>(), Version(hit["_version"].get<std::uint64_t>()));
  }
  return Done{};
}

}  // namespace

Result<std::uint64_t> sweep(HttpClient& client, const std::string& write_alias, UnixMs older_than) {
  const std::string search = "/" + write_alias + "/_search?filter_path=hits.hits._id,hits.hits._version";
  // Seen by the next search.
  BulkWriter writer(
      client, "/" + write_alias + "/_bulk?require_alias=true&refresh=true&filter_path=items.*.status,items.*.error",
      BulkLimits{});
  BulkBody body;
  std::uint64_t removed = 0;
  while (true) {
    Result<HttpAnswer> page = client.send(Method::kPost, search, question(older_than));
    if (!page) return page.error();
    if (page.value().status != 200)
      return Error{.what_to_do = ErrorClass::kRetriable,
                   .message = client.url() + " answers " + std::to_string(page.value().status) +
                              " to a search for tombstones: " + AnswerReader().read_error(page.value().body)};
    body.clear();
    if (Result<> read = read_page(client, page.value().body, body); !read) return read.error();
    if (body.items() == 0) return removed;
    std::vector<ItemAnswer> answers(body.items());
    if (Result<> sent = writer.send(body, answers); !sent) return sent.error();
    const auto gone = std::count_if(answers.begin(), answers.end(),
                                    [](const ItemAnswer& item) { return item.verdict == Verdict::kStored; });
    removed += static_cast<std::uint64_t>(gone);
    if (gone == 0) return removed;
  }
}

}  // namespace reseq::opensearch
