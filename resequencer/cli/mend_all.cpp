#include "cli/mend_all.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "admin/json_text.h"
#include "base/log.h"
#include "cli/newest_request.h"
#include "cli/refusal.h"
#include "cli/reprocess.h"
#include "cli/table.h"
#include "cli/writing.h"
#include "codec/base64.h"
#include "codec/header_names.h"
#include "kafka/admin.h"
#include "runtime/clients.h"
#include "runtime/log_reading.h"

namespace reseq::cli {

namespace {

using admin::Json;
using admin::member;
using admin::number_in;
using admin::text_in;
using runtime::LogReading;
using SteadyClock = std::chrono::steady_clock;
namespace header = codec::header;

constexpr std::chrono::seconds kTellEvery{3};
constexpr Milliseconds kNoPatience{1};  // to look once

// What became of the documents of a selection.
class Tally {
 public:
  void done(std::int64_t partition) { ++partitions_[partition].done, ++done_; }
  void left_out(std::int64_t partition, const std::string& why) { ++partitions_[partition].left_out, ++reasons_[why]; }
  [[nodiscard]] std::int64_t seen() const {
    std::int64_t all = done_;
    for (const auto& [why, count] : reasons_) all += count;
    return all;
  }

  [[nodiscard]] std::string text(const std::string& what) const {
    Table table({"PARTITION", "DOCUMENTS", "LEFT OUT"});
    for (const auto& [partition, counts] : partitions_)
      table.add({std::to_string(partition), std::to_string(counts.done), std::to_string(counts.left_out)});
    std::string text = partitions_.empty() ? "" : table.text();
    text += what + ": " + std::to_string(done_) + "\n";
    for (const auto& [why, count] : reasons_) text += "left out: " + std::to_string(count) + ", " + why + "\n";
    return text;
  }
  [[nodiscard]] Json json() const {
    Json partitions = Json::array();
    for (const auto& [partition, counts] : partitions_)
      partitions.push_back({{"partition", partition}, {"documents", counts.done}, {"left_out", counts.left_out}});
    return {{"documents", done_}, {"left_out", reasons_}, {"partitions", std::move(partitions)}};
  }

 private:
  struct Counts {
    std::int64_t done = 0, left_out = 0;
  };
  std::map<std::int64_t, Counts> partitions_;
  std::map<std::string, std::int64_t> reasons_;
  std::int64_t done_ = 0;
};

std::string id_of(const Json& document) {
  const std::string base64 = text_in(document, "id_base64", "");
  return base64.empty() ? text_in(document, "id", "") : codec::parse_base64(base64).value_or("");
}

class Mender {
 public:
  virtual ~Mender() = default;
  // Why it is not to be done for this one; empty: it is.
  [[nodiscard]] virtual std::string obstacle(const SelectedPage& page, const Json& document) const = 0;
  // For those without one. kTimeout: some are not confirmed, and not counted.
  virtual Result<> mend(const SelectedPage& page, const std::vector<Json>& documents, Tally& tally) = 0;
  // "expired", behind "would be" too.
  [[nodiscard]] virtual std::string done() const = 0;
};

class Expiry : public Mender {
 public:
  static Result<std::unique_ptr<Mender>> open(const runtime::Application& application, const Selection& selection,
                                              const OperationOptions& options) {
    auto events = LogReading::open(application, application.settings.topic_events);
    if (!events) return runtime::with_fix(events.error(), application.settings);
    if (auto marked = events.value().mark_ends(); !marked) return marked.error();
    auto writing = Writing::open(application);
    if (!writing) return writing.error();
    return std::unique_ptr<Mender>(
        new Expiry(application, selection, options, std::move(events).value(), std::move(writing).value()));
  }

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

  Expiry(const runtime::Application& application, const Selection& selection, const OperationOptions& options,
         LogReading events, Writing writing)
      : application_(application),
        selection_(selection),
        options_(options),
        drawn_(draw_control_id()),
        control_id_(options.control_id.empty() ? drawn_ : options.control_id + " " + drawn_),
        events_(std::move(events)),
        writing_(std::move(writing)) {}

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

class Reprocessing : public Mender {
 public:
  static Result<std::unique_ptr<Mender>> open(const runtime::Application& application, Session& session,
                                              const Selection& selection, const OperationOptions& options) {
    auto log = LogReading::open(application, application.settings.topic_requests);
    if (!log) return runtime::with_fix(log.error(), application.settings);
    auto writing = Writing::open(application);
    if (!writing) return writing.error();
    return std::unique_ptr<Mender>(
        new Reprocessing(application, session, selection, options, std::move(log).value(), std::move(writing).value()));
  }

  [[nodiscard]] std::string obstacle(const SelectedPage& page, const Json& document) const override {
    if (!member(document, "request").is_object()) return "registered by commands only";
    const Newest newest = newest_in(page.partition, page.part, document, application_.sequence_kind);
    if (newest.paused) return "in a paused partition";
    if (!newest.above.empty()) return "below an order that a command or a release by hand has brought";
    const Again again = again_of(newest, application_.sequence_kind);
    const std::vector<std::string> meant =
        selection_.target ? std::vector{*selection_.target} : causing_targets(document, selection_.state);
    const bool helps =
        std::any_of(meant.begin(), meant.end(), [&](const std::string& name) { return again.pending.has(name); });
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
  Reprocessing(const runtime::Application& application, Session& session, const Selection& selection,
               const OperationOptions& options, LogReading log, Writing writing)
      : application_(application),
        session_(session),
        selection_(selection),
        options_(options),
        log_(std::move(log)),
        writing_(std::move(writing)) {}

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

// Pages one after the other, until the selection ends.
class Run {
 public:
  Run(SelectionPages pages, const Selection& selection, const OperationOptions& options, Mender& mender)
      : pages_(std::move(pages)), selection_(selection), options_(options), mender_(mender) {}

  Result<> to_the_end() {
    place_ = pages_.place();
    Result<> result = work();
    print();
    if (!result) return go_on_from(result.error());
    if (!pages_.unanswered().empty())
      return Error{ErrorClass::kTimeout, 0,
                   "nobody answers for partitions " + pages_.unanswered() +
                       ": they are being taken over, or no instance has them; do it again"};
    return result;
  }

 private:
  Result<> work() {
    while (tally_.seen() < selection_.documents_max) {
      const auto began_at = SteadyClock::now();
      auto page = pages_.next(selection_.documents_max - tally_.seen());
      if (!page) return page.error();
      if (!page.value()) return Done{};
      const std::int64_t before = tally_.seen();
      if (auto done = one(*page.value()); !done) return done;
      place_ = pages_.place();
      tell(page.value()->partition);
      if (!options_.dry_run)
        std::this_thread::sleep_until(began_at +
                                      std::chrono::milliseconds(1000 * (tally_.seen() - before) / selection_.rate));
    }
    more_ = true;
    return Done{};
  }

  Result<> one(const SelectedPage& page) {
    std::vector<Json> documents;
    for (const Json& document : page.documents) {
      const std::string obstacle = mender_.obstacle(page, document);
      if (!obstacle.empty())
        tally_.left_out(page.partition, obstacle);
      else if (options_.dry_run)
        tally_.done(page.partition);
      else
        documents.push_back(document);
    }
    return documents.empty() ? Result<>(Done{}) : mender_.mend(page, documents, tally_);
  }

  void tell(std::int64_t partition) {
    const auto now = SteadyClock::now();
    if (now - told_at_ < kTellEvery) return;
    told_at_ = now;
    std::fprintf(stderr, "%lld documents, partition %lld; what comes now begins at --from %s\n",
                 static_cast<long long>(tally_.seen()), static_cast<long long>(partition), place_.c_str());
  }

  void print() const {
    if (options_.ask.view == View::kJson) {
      Json told = tally_.json();
      told["dry_run"] = options_.dry_run;
      told["more"] = more_;
      if (more_) told["from"] = place_;
      std::fputs(admin::indented(told).c_str(), stdout);
      return;
    }
    std::fputs(tally_.text((options_.dry_run ? "would be " : "") + mender_.done()).c_str(), stdout);
    if (more_) std::fprintf(stderr, "resequencer: there may be more: --from %s goes on\n", place_.c_str());
  }

  [[nodiscard]] Error go_on_from(Error error) const {
    error.message += "; what is not done yet: --from " + place_;
    if (!pages_.unanswered().empty())
      error.message += ", and partitions that nobody answered for: " + pages_.unanswered();
    return error;
  }

  SelectionPages pages_;
  const Selection& selection_;
  const OperationOptions& options_;
  Mender& mender_;
  Tally tally_;
  std::string place_;
  bool more_ = false;
  SteadyClock::time_point told_at_ = SteadyClock::now();
};

Result<std::int32_t> partitions_of(const runtime::Application& application) {
  auto admin = kafka::Admin::open(runtime::connection_of(application.settings));
  if (!admin) return admin.error();
  auto count = admin.value()->partition_count(application.settings.topic_requests, runtime::kBrokerAnswerLimit);
  if (!count) return runtime::with_fix(count.error(), application.settings);
  return count;
}

}  // namespace

Result<> expire_all(const config::Settings& settings, const Selection& selection, const OperationOptions& options) {
  const runtime::Application application(settings);
  if (auto known = check_operation(settings, selection.target, options); !known) return known;
  const auto partitions = partitions_of(application);
  if (!partitions) return partitions.error();
  auto session = Session::open(settings, options.ask);
  if (!session) return session.error();
  auto pages = SelectionPages::open(*session.value(), selection, partitions.value());
  if (!pages) return pages.error();
  auto mender = Expiry::open(application, selection, options);
  if (!mender) return mender.error();
  return Run(std::move(pages).value(), selection, options, *mender.value()).to_the_end();
}

Result<> reprocess_all(const config::Settings& settings, const Selection& selection, const OperationOptions& options) {
  const runtime::Application application(settings);
  if (auto possible = check_reprocess(settings); !possible) return possible;
  if (auto known = check_operation(settings, selection.target, options); !known) return known;
  const auto partitions = partitions_of(application);
  if (!partitions) return partitions.error();
  auto session = Session::open(settings, options.ask);
  if (!session) return session.error();
  auto pages = SelectionPages::open(*session.value(), selection, partitions.value());
  if (!pages) return pages.error();
  auto mender = Reprocessing::open(application, *session.value(), selection, options);
  if (!mender) return mender.error();
  return Run(std::move(pages).value(), selection, options, *mender.value()).to_the_end();
}

}  // namespace reseq::cli
