// Expiry: nothing is waited for any more. Written as control records, and confirmed by their events.
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "admin/json_text.h"
#include "cli/mender.h"
#include "cli/refusal.h"
#include "cli/writing.h"
#include "codec/base64.h"
#include "codec/header_names.h"
#include "runtime/application/clients.h"
#include "runtime/application/log_reading.h"

namespace reseq::cli {

namespace {

using admin::Json;
using admin::member;
using admin::number_in;
using admin::text_in;
using runtime::LogReading;
namespace header = codec::header;

class Expiry : public Mender {
 public:
  Expiry(const runtime::Application& application, const Selection& selection, const OperationOptions& options,
         LogReading events, Writing writing)
      : application_(application),
        selection_(selection),
        options_(options),
        drawn_(draw_control_id()),
        control_id_(options.control_id.empty() ? drawn_ : options.control_id + " " + drawn_),
        events_(std::move(events)),
        writing_(std::move(writing)) {}

  [[nodiscard]] std::string obstacle(const SelectedPage&, const Json&) const override { return ""; }

  Result<> mend(const SelectedPage& page, const std::vector<Json>& documents, Tally& tally) override {
    std::map<std::string, Expired> on_their_way;
    const Partition where(static_cast<std::int32_t>(page.partition));
    for (const Json& document : documents) {
      const std::string id = id_of(document);
      for (const std::string& target : meant_targets(document)) {
        auto sent = writing_.send(application_.settings.topic_control, id, std::nullopt,
                                  headers_for(where, document, target), where);
        if (!sent) return runtime::with_fix(sent.error(), application_.settings);
        on_their_way[id].targets.insert(target);
      }
    }
    if (auto finished = writing_.finish(); !finished) return runtime::with_fix(finished.error(), application_.settings);
    auto followed = events_.follow(
        options_.ask.timeout, [&](const kafka::Record& record) { note(record, page.partition, on_their_way, tally); },
        [&] { return on_their_way.empty(); });
    if (followed || followed.error().what_to_do != ErrorClass::kTimeout) return followed;
    return Error{ErrorClass::kTimeout, 0,
                 std::to_string(on_their_way.size()) + " are written as " + control_id_ +
                     " and not confirmed: they happen when an instance has partition " +
                     std::to_string(page.partition) + "; doing it again is harmless"};
  }

  [[nodiscard]] std::string done() const override { return "expired"; }

 private:
  // What of a document is not confirmed yet.
  struct Expired {
    std::set<std::string> targets;
    std::string refused;  // why one of them was, if so
  };

  // Not those that wait since a moment ago.
  [[nodiscard]] std::vector<std::string> meant_targets(const Json& document) const {
    return selection_.target ? std::vector{*selection_.target} : causing_targets(document, selection_.state);
  }

  // It does nothing to a document that has a newer sequence or epoch by then.
  [[nodiscard]] std::vector<OwnedHeader> headers_for(Partition where, const Json& document,
                                                     const std::string& target) const {
    std::vector<OwnedHeader> headers = {{std::string(header::kControl), "expire"},
                                        {std::string(header::kControlId), control_id_},
                                        {std::string(header::kControlPartition), std::to_string(where.value())},
                                        {std::string(header::kTarget), target}};
    const Json groups = member(document, "groups");
    if (!groups.is_array() || groups.empty()) return headers;
    const Json order = member(groups[0], "order");
    const std::string base64 = text_in(order, "seq_base64", "");
    headers.emplace_back(header::kControlExpectedSeq,
                         base64.empty() ? text_in(order, "seq", "") : codec::parse_base64(base64).value_or(""));
    headers.emplace_back(header::kControlExpectedEpoch, std::to_string(number_in(order, "epoch")));
    return headers;
  }

  void note(const kafka::Record& record, std::int64_t partition, std::map<std::string, Expired>& on_their_way,
            Tally& tally) const {
    if (!record.payload || record.payload->find(drawn_) == std::string_view::npos) return;
    const Json event = admin::parse_object(*record.payload);
    if (event.is_discarded() || text_in(event, "kind", "") != "operation") return;
    if (!text_in(event, "control_id", "").ends_with(drawn_)) return;
    const auto one = on_their_way.find(id_of(event));
    if (one == on_their_way.end() || one->second.targets.erase(text_in(event, "target", "")) == 0) return;
    const std::string reason = text_in(event, "reason", "");
    if (!reason.empty()) one->second.refused = reason;
    if (!one->second.targets.empty()) return;
    one->second.refused.empty() ? tally.done(partition) : tally.left_out(partition, one->second.refused);
    on_their_way.erase(one);
  }

  const runtime::Application& application_;
  const Selection& selection_;
  OperationOptions options_;
  std::string drawn_;
  std::string control_id_;
  LogReading events_;
  Writing writing_;
};

}  // namespace

Result<std::unique_ptr<Mender>> open_expiry(const runtime::Application& application, const Selection& selection,
                                            const OperationOptions& options) {
  auto events = LogReading::open(application, application.settings.topic_events);
  if (!events) return runtime::with_fix(events.error(), application.settings);
  if (auto marked = events.value().mark_ends(); !marked) return marked.error();
  auto writing = Writing::open(application);
  if (!writing) return writing.error();
  return std::unique_ptr<Mender>(
      std::make_unique<Expiry>(application, selection, options, std::move(events).value(), std::move(writing).value()));
}

}  // namespace reseq::cli
