// Reprocessing: the newest request of a document, read from its topic, is written once more.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "admin/json_text.h"
#include "cli/mender.h"
#include "cli/newest_request.h"
#include "cli/reprocess.h"
#include "cli/writing.h"
#include "runtime/application/clients.h"
#include "runtime/application/log_reading.h"

namespace reseq::cli {

namespace {

using admin::Json;
using admin::member;
using runtime::LogReading;

constexpr Milliseconds kNoPatience{1};  // to look once

class Reprocessing : public Mender {
 public:
  Reprocessing(const runtime::Application& application, Session& session, const Selection& selection,
               const OperationOptions& options, LogReading log, Writing writing)
      : application_(application),
        session_(session),
        selection_(selection),
        options_(options),
        log_(std::move(log)),
        writing_(std::move(writing)) {}

  [[nodiscard]] std::string obstacle(const SelectedPage& page, const Json& document) const override {
    if (!member(document, "request").is_object()) return "registered by commands only";
    const Newest newest = newest_in(page.partition, page.part, document, application_.sequence_kind);
    if (newest.paused) return "in a paused partition";
    if (!newest.above.empty()) return "below an order that a command or a release by hand has brought";
    for (const Json& failure : member(document, "failures"))
      if (failure.value("effect_unknown", false))
        return "an effect that nobody knows: look, and ask for each by its id";
    const Again again = again_of(newest, application_.sequence_kind, application_.settings.targets);
    const std::vector<std::string> meant = selection_.target
                                               ? std::vector{*selection_.target}
                                               : causing_targets(document, selection_.state, selection_.error);
    const bool helps =
        std::any_of(meant.begin(), meant.end(), [&](const std::string& name) { return again.wanted.has(name); });
    return helps ? "" : "waits for an older request: only the newest can be sent once more";
  }

  Result<> mend(const SelectedPage& page, const std::vector<Json>& documents, Tally& tally) override {
    std::map<Offset, Requested> wanted;
    std::vector<Offset> offsets;
    for (const Json& document : documents) {
      const Newest newest = newest_in(page.partition, page.part, document, application_.sequence_kind);
      wanted.emplace(newest.offset, Requested{id_of(document), newest});
    }
    for (const auto& [offset, one] : wanted) offsets.push_back(offset);
    std::vector<Requested> written;
    Result<> sent = Done{};
    auto read =
        log_.read_each(Partition(static_cast<std::int32_t>(page.partition)), offsets, [&](const kafka::Record& record) {
          const Requested& one = wanted.at(record.offset);
          if (sent && application_.id_of_request(record) == one.id && (sent = send(record, one)))
            written.push_back(one);
        });
    if (!read) return runtime::with_fix(read.error(), application_.settings);
    if (!sent) return runtime::with_fix(sent.error(), application_.settings);
    if (auto finished = writing_.finish(); !finished) return runtime::with_fix(finished.error(), application_.settings);
    if (auto decided = wait(written); !decided) return decided;
    for (std::size_t i = 0; i < documents.size(); ++i)
      i < written.size() ? tally.done(page.partition)
                         : tally.left_out(page.partition, "the request is not kept any more");
    return Done{};
  }

  [[nodiscard]] std::string done() const override { return "requested again"; }

 private:
  struct Requested {
    std::string id;
    Newest newest;
  };

  Result<> send(const kafka::Record& record, const Requested& one) {
    const DeadLetter request = requested_again(record, one.newest);
    return writing_.send(application_.settings.topic_requests, request.key, request.payload, request.headers,
                         one.newest.partition);
  }

  // They are decided in the order in which they were written: when one is, all before it are. The last one may never
  // tell: a newer request has overtaken it, or it was refused; then one before it does.
  Result<> wait(const std::vector<Requested>& written) {
    Result<> told = Done{};
    Milliseconds patience = options_.ask.timeout;
    for (auto last = written.rbegin(); last != written.rend(); ++last) {
      const auto decided = wait_for_revision(session_, last->id, last->newest, application_.sequence_kind, patience);
      if (decided) return Done{};
      if (decided.error().what_to_do == ErrorClass::kInvalid) continue;
      if (decided.error().what_to_do != ErrorClass::kTimeout) return decided.error();
      told = decided.error();
      patience = kNoPatience;
    }
    return told;
  }

  const runtime::Application& application_;
  Session& session_;
  const Selection& selection_;
  OperationOptions options_;
  LogReading log_;
  Writing writing_;
};

}  // namespace

Result<std::unique_ptr<Mender>> open_reprocessing(const runtime::Application& application, Session& session,
                                                  const Selection& selection, const OperationOptions& options) {
  auto log = LogReading::open(application, application.settings.topic_requests);
  if (!log) return runtime::with_fix(log.error(), application.settings);
  auto writing = Writing::open(application);
  if (!writing) return writing.error();
  return std::unique_ptr<Mender>(std::make_unique<Reprocessing>(application, session, selection, options,
                                                                std::move(log).value(), std::move(writing).value()));
}

}  // namespace reseq::cli
