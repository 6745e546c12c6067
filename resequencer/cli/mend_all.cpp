#include "cli/mend_all.h"

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "admin/json_text.h"
#include "cli/mender.h"
#include "cli/refusal.h"
#include "cli/reprocess.h"
#include "kafka/admin.h"
#include "runtime/application/clients.h"

namespace reseq::cli {

namespace {

using admin::Json;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTellEvery{3};

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
                       ": they are being taken over, or no instance has them; do it again, with --from " + place_};
    return result;
  }

 private:
  Result<> work() {
    const auto begin = SteadyClock::now();
    while (tally_.seen() < selection_.documents_max && !takes_too_long(begin)) {
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

  [[nodiscard]] bool takes_too_long(SteadyClock::time_point begin) const {
    const std::chrono::milliseconds most(selection_.time_max.value());
    return most.count() > 0 && SteadyClock::now() - begin >= most;
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
    if (options_.told != nullptr || now - told_at_ < kTellEvery) return;
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
      return put(admin::indented(told), options_);
    }
    std::fputs(tally_.text((options_.dry_run ? "would be " : "") + mender_.done()).c_str(), stdout);
    if (more_) std::fprintf(stderr, "resequencer: there may be more: --from %s goes on\n", place_.c_str());
  }

  [[nodiscard]] Error go_on_from(Error error) const {
    error.message += "; what is not done yet: --from " + place_;
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
  auto count = admin.value()->partition_count(application.settings.topic_requests, kafka::kBrokerAnswerLimit);
  if (!count) return runtime::with_fix(count.error(), application.settings);
  return count;
}

using OpenMender =
    std::function<Result<std::unique_ptr<Mender>>(const runtime::Application& application, Session& session)>;

Result<> mend_all(const config::Settings& settings, const Selection& selection, const OperationOptions& options,
                  const OpenMender& open) {
  const runtime::Application application(settings);
  if (auto known = check_operation(settings, selection.target, options); !known) return known;
  const auto partitions = partitions_of(application);
  if (!partitions) return partitions.error();
  auto session = Session::open(settings, options.ask);
  if (!session) return session.error();
  auto pages = SelectionPages::open(*session.value(), selection, partitions.value());
  if (!pages) return pages.error();
  auto mender = open(application, *session.value());
  if (!mender) return mender.error();
  return Run(std::move(pages).value(), selection, options, *mender.value()).to_the_end();
}

}  // namespace

Result<> expire_all(const config::Settings& settings, const Selection& selection, const OperationOptions& options) {
  return mend_all(settings, selection, options, [&](const runtime::Application& application, Session&) {
    return open_expiry(application, selection, options);
  });
}

Result<> reprocess_all(const config::Settings& settings, const Selection& selection, const OperationOptions& options) {
  if (auto possible = check_reprocess(settings); !possible) return possible;
  return mend_all(settings, selection, options, [&](const runtime::Application& application, Session& session) {
    return open_reprocessing(application, session, selection, options);
  });
}

}  // namespace reseq::cli
