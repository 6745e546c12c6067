#include "consumers/opensearch/opensearch_store.h"

#include <algorithm>
#include <chrono>
#include <spdlog/spdlog.h>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "consumers/opensearch/sweep.h"
#include "consumers/remote/forgetting.h"

namespace reseq::opensearch {
namespace {

using remote::Answer;
using remote::Finding;

constexpr const char* kGone =
    ". The index or its alias is gone. Stop the sinks, then restore it, or begin anew: set the group back with "
    "kafka-consumer-groups.sh --reset-offsets --to-earliest, or take another --group";

UnixMs now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return UnixMs(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

std::string bulk_path(const TargetIndex& index) {
  // Of items that are stored nothing but the status comes back.
  return "/" + index.write_alias() + "/_bulk?require_alias=true&filter_path=items.*.status,items.*.error";
}

Result<> with_fix(Result<> result) {
  constexpr int kNotFound = 404;
  if (result || result.error().what_to_do != ErrorClass::kInvalid || result.error().code != kNotFound) return result;
  return Error{.what_to_do = ErrorClass::kInvalid, .code = kNotFound, .message = result.error().message + kGone};
}

Answer::Kind kind_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kStored:
      return Answer::Kind::kStored;
    case Verdict::kNotNewer:
      return Answer::Kind::kNotNewer;
    case Verdict::kRefused:
      return Answer::Kind::kRefused;
    case Verdict::kAgain:
    case Verdict::kUnusable:
    case Verdict::kSmaller:
      return Answer::Kind::kAgain;
  }
  return Answer::Kind::kAgain;
}

}  // namespace

OpenSearchStore::OpenSearchStore(std::unique_ptr<HttpClient> client, const StoreSettings& settings)
    : client_(std::move(client)),
      settings_(settings),
      index_(settings.index),
      writer_(*client_, bulk_path(index_), settings.bulk) {}

Result<std::unique_ptr<OpenSearchStore>> OpenSearchStore::open(const StoreSettings& settings) {
  if (Result<> named = check_name(settings.index.name); !named) return named.error();
  Result<std::unique_ptr<HttpClient>> client = HttpClient::open(settings.http);
  if (!client) return client.error();
  return std::unique_ptr<OpenSearchStore>(new OpenSearchStore(std::move(client).value(), settings));
}

std::string OpenSearchStore::place() const {
  return client_->url() + ", index " + index_.index();
}

Result<> OpenSearchStore::check_retention() const {
  if (!settings_.tombstone_retention) return Done{};
  return remote::judge_forgetting(*settings_.tombstone_retention, settings_.output_retention,
                                  "Let --tombstone-retention be longer, or never");
}

void OpenSearchStore::interrupt() {
  interrupted_ = true;
  client_->interrupt();
}

Result<bool> OpenSearchStore::is_there() {
  Result<TargetIndex::State> looked = index_.look(*client_);
  if (!looked) return looked.error();
  // What cannot be used is said by prepare(), which makes nothing then.
  return looked.value().exists || !looked.value().faults.empty();
}

Result<bool> OpenSearchStore::is_empty() {
  return index_.is_empty(*client_);
}

Result<> OpenSearchStore::prepare() {
  if (Result<> kept = check_retention(); !kept) return kept;
  Result<std::vector<std::string>> remarks = index_.prepare(*client_);
  if (!remarks) return remarks.error();
  for (const std::string& remark : remarks.value()) spdlog::warn("index={} {}", index_.index(), log::one_line(remark));
  return Done{};
}

// What keeps it from writing is no reason not to start: the sink waits until somebody mends it.
Finding OpenSearchStore::check_writing() {
  const bool deletes = deletes_hard() || settings_.tombstone_retention.has_value();
  const Result<std::string> why =
      index_.why_not_writable(*client_, deletes ? TargetIndex::Trial::kIndexAndDelete : TargetIndex::Trial::kIndex);
  return {
      .good = why && why.value().empty(),
      .what = "documents may be written" + std::string(deletes ? " and deleted" : "") + " by " + index_.write_alias(),
      .to_do = why ? why.value() : why.error().message};
}

std::vector<Finding> OpenSearchStore::check() {
  std::vector<Finding> findings;
  Result<TargetIndex::State> looked = index_.look(*client_);
  if (!looked) {
    findings.push_back({.what = "OpenSearch answers", .to_do = looked.error().message});
    return findings;
  }
  const TargetIndex::State& state = looked.value();
  findings.push_back({.good = true, .what = client_->url() + " is " + state.version, .to_do = ""});
  findings.push_back({.good = true,
                      .what = state.exists
                                  ? "the index " + index_.index() + " is there"
                                  : "the index " + index_.index() + " is not there yet: it is made at the start",
                      .to_do = ""});
  for (const std::string& fault : state.faults)
    findings.push_back({.what = "the index " + index_.index() + " can be used", .to_do = fault});
  if (state.lacks_failures)
    findings.push_back({.good = true,
                        .what = "to know: " + index_.index() + " has no field reseq_failed yet: the start maps it",
                        .to_do = ""});
  for (const std::string& remark : state.remarks)
    findings.push_back({.good = true, .what = "to know: " + remark, .to_do = ""});
  if (state.exists && state.faults.empty()) findings.push_back(check_writing());
  const Result<> kept = check_retention();
  findings.push_back({.good = kept.ok(),
                      .what = "deleted documents are remembered for longer than an older result can come",
                      .to_do = kept ? "" : kept.error().message});
  return findings;
}

std::optional<std::string_view> OpenSearchStore::add(const remote::Write& write) {
  const sink::Change& change = write.change;
  const bool is_upsert = change.op == sink::ChangeOp::kUpsert;
  if (is_upsert && settings_.payload == PayloadForm::kJson)
    return body_.add_document(change.id, change.version, *change.payload);
  if (is_upsert)
    body_.add_text(change.id, change.version, *change.payload);
  else if (change.op == sink::ChangeOp::kFailed)
    body_.add_marker(change.id, change.version, sink::marker_of(change));
  else if (deletes_hard())
    body_.add_hard_delete(change.id, change.version);
  else
    body_.add_tombstone(change.id, change.version, write.timestamp.value() > 0 ? write.timestamp : now());
  return std::nullopt;
}

Result<> OpenSearchStore::write(const remote::Batch& batch, std::span<Answer> answers) {
  RESEQ_ASSERT(answers.size() == batch.writes.size(), "one answer per write");
  body_.clear();
  places_.clear();
  for (std::size_t i = 0; i < batch.writes.size(); ++i) {
    if (const auto why = add(batch.writes[i]))
      answers[i] = {.kind = Answer::Kind::kRefused, .words = std::string(*why)};
    else
      places_.push_back(i);
  }
  std::vector<ItemAnswer> items(body_.items());
  const bool has_hard_deletes =
      deletes_hard() && std::any_of(batch.writes.begin(), batch.writes.end(), [](const remote::Write& write) {
        return write.change.op == sink::ChangeOp::kDelete;
      });
  Result<> sent = has_hard_deletes ? index_.require_write_alias(*client_) : Done{};
  if (sent) sent = writer_.send(body_, items);
  for (std::size_t item = 0; item < items.size(); ++item)
    answers[places_[item]] = {.kind = kind_of(items[item].verdict), .words = std::move(items[item].words)};
  return with_fix(std::move(sent));
}

// The alias is what is written to, wherever it leads.
Result<> OpenSearchStore::ask() {
  return with_fix(index_.require_write_alias(*client_));
}

Result<> OpenSearchStore::tend() {
  if (!settings_.tombstone_retention) return Done{};
  const UnixMs older_than(now().value() - settings_.tombstone_retention->value());
  Result<std::uint64_t> removed = sweep(*client_, index_.write_alias(), older_than);
  if (!removed && interrupted_) return Done{};
  if (!removed) return removed.error();
  if (removed.value() > 0) spdlog::info("index={} tombstones_removed={}", index_.index(), removed.value());
  return Done{};
}

}  // namespace reseq::opensearch
