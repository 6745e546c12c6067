#include "observe/observer.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/log.h"
#include "config/address.h"
#include "http/server.h"
#include "observe/observation.h"
#include "runtime/application/clock.h"
#include "store/crash_mark.h"
#include "store/private_directory.h"

namespace reseq::observe {

namespace {

constexpr const char* kReport = "report.json";
constexpr const char* kPart = ".part";  // of the list of wrong documents, while it is not whole
constexpr mode_t kOwnerOnly = 0600;
constexpr Milliseconds kRoundPause{1'000};  // each round asks the brokers for all ends
constexpr Milliseconds kReportEvery{2'000};
// The list of wrong documents is a pass over all rows (a second for a million), in which nothing is read. Behind one is
// a pause, this long at least, and so many times as long as the pass took: it gets a twentieth of the time at most.
constexpr Milliseconds kListPause{10'000};
constexpr std::int64_t kListPauses = 20;
constexpr Milliseconds kPollLimit{50};
constexpr Milliseconds kRetryPause{1'000};

std::atomic<bool> stop_requested = false;  // lock-free: a signal handler may write it
static_assert(std::atomic<bool>::is_always_lock_free);
void request_stop(int) {
  stop_requested = true;
}

void pause(Milliseconds time) {
  std::this_thread::sleep_for(std::chrono::milliseconds(time.value()));
}

bool may_pass(const Error& error) {
  return error.what_to_do == ErrorClass::kRetriable || error.what_to_do == ErrorClass::kTimeout;
}

// What /metrics answers. Thread rule: any thread.
class Page {
 public:
  void put(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

class Observer {
 public:
  explicit Observer(Observation& observation)
      : observation_(observation),
        server_({{"/metrics",
                  [this](const http::Question&) {
                    return http::Answer{.body = page_.text(),
                                        .content_type = "text/plain; version=0.0.4; charset=utf-8"};
                  }},
                 {"/livez", [](const http::Question&) { return http::Answer{.body = "ok\n"}; }}}) {}

  Result<Json> run() {
    if (auto opened = open_list(ErrorClass::kInvalid); !opened) return opened.error();
    listen();
    const std::int64_t start = steady();
    const auto limit = config::parse_duration_ms(observation_.settings().observe_for);
    saved_at_ = synced_at_ = start;
    const bool once = limit == 0;
    bool over = false;
    while (!over && !stop_requested) {
      if (auto told = tell(true); !told) return told.error();
      const auto more = observation_.begin_round();
      if (!more && !may_pass(more.error())) return more.error();
      if (!more) {
        spdlog::warn("observe=waiting error={}", log::outside(more.error().message));
        pause(kRetryPause);
        continue;
      }
      unlisted_ = unlisted_ || more.value();
      const auto until = limit && !once ? std::optional(start + *limit) : std::nullopt;
      if (auto read = more.value() ? read_round(until) : Result<>(Done{}); !read) return read.error();
      over = once || (until && steady() >= *until);
      if (over || stop_requested) break;
      if (auto listed = list_when_due(); !listed) return listed.error();
      if (!more.value()) pause(kRoundPause);
    }
    if (auto listed = list_wrong(); !listed) return listed.error();
    if (auto closed = observation_.close(); !closed) return closed.error();
    return tell(false);
  }

 private:
  static std::int64_t steady() { return runtime::SystemClock().steady().value(); }

  Result<> read_round(std::optional<std::int64_t> until) {
    while (!stop_requested && (!until || steady() < *until)) {
      const auto more = observation_.step(kPollLimit);
      if (!more) return more.error();
      if (auto kept = keep(); !kept) return kept;
      if (!more.value()) return Done{};
    }
    return Done{};
  }

  // What is counted, on disk and in the report, when it is time.
  Result<> keep() {
    const config::Settings& s = observation_.settings();
    const std::int64_t at = steady();
    if (observation_.save_due() || at - saved_at_ >= s.checkpoint_interval_ms) {
      if (auto saved = observation_.save(); !saved) return saved;
      saved_at_ = at;
    }
    if (at - synced_at_ >= s.sync_interval_ms) {
      if (auto synced = observation_.sync(); !synced) return synced;
      synced_at_ = at;
    }
    if (at - told_at_ < kReportEvery.value()) return Done{};
    const auto told = tell(true);
    return told ? Result<>(Done{}) : told.error();
  }

  Result<Json> tell(bool running) {
    if (running && told_at_ != 0 && steady() - told_at_ < kReportEvery.value()) return Json();
    told_at_ = steady();
    Seen seen = observation_.seen(running);
    seen.wrong = wrong_;
    page_.put(observed_metrics(seen));
    Json report = report_json(seen, observation_.settings());
    auto folder = store::PrivateDirectory::open(observer_path(observation_.settings()),
                                                store::PrivateDirectory::Missing::kRefuse);
    if (!folder) return folder.error();
    if (auto written = folder.value().write(kReport, report.dump(2) + "\n"); !written) return written.error();
    return report;
  }

  // At the start, too: nobody shall observe for hours and then not be able to write. Ids of documents are for their
  // owner alone.
  Result<> open_list(ErrorClass otherwise) {
    const std::string& path = observation_.settings().observe_wrong_file;
    if (path.empty() || list_) return Done{};
    ::unlink((path + kPart).c_str());  // of an earlier run, or a link of somebody else
    const int fd = ::open((path + kPart).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnerOnly);
    if (fd >= 0) list_.reset(::fdopen(fd, "w"));
    if (!list_) return list_error(otherwise);
    return Done{};
  }

  // When all that was there is read. A file that cannot be written now may be later.
  Result<> list_when_due() {
    if (steady() < list_from_) return Done{};
    const std::int64_t start = steady();
    auto listed = list_wrong();
    list_from_ = steady() + std::max(kListPause.value(), kListPauses * (steady() - start));
    if (listed || !may_pass(listed.error())) return listed;
    spdlog::warn("observe=not_listed error={}", log::outside(listed.error().message));
    return Done{};
  }

  // Under its name only when it is whole. Not again when nothing was read since.
  Result<> list_wrong() {
    if (!unlisted_) return Done{};
    if (auto opened = open_list(ErrorClass::kRetriable); !opened) return opened;
    if (!list_) return Done{};
    File list = std::move(list_);
    const auto counts = observation_.tell_wrong_now([&list](const std::string& line) {
      std::fputs(line.c_str(), list.get());
      std::fputc('\n', list.get());
    });
    if (!counts) return counts.error();
    const bool written = std::ferror(list.get()) == 0;
    const std::string& path = observation_.settings().observe_wrong_file;
    if (std::fclose(list.release()) != 0 || !written || std::rename((path + kPart).c_str(), path.c_str()) != 0)
      return list_error(ErrorClass::kRetriable);
    wrong_ = counts.value();
    unlisted_ = false;
    return Done{};
  }

  [[nodiscard]] Error list_error(ErrorClass what_to_do) const {
    return {what_to_do, 0,
            "observe.wrong_file: " + observation_.settings().observe_wrong_file + kPart + ": " + std::strerror(errno)};
  }

  // Metrics are no reason not to look.
  void listen() {
    const std::string& where = observation_.settings().http_listen;
    if (where.empty()) return;
    const auto address = config::parse_address(where);
    const auto bound =
        address ? server_.start(address.value().host, address.value().port) : Result<int>(address.error());
    if (bound)
      spdlog::info("http=open address={} port={}", log::outside(where), bound.value());
    else
      spdlog::warn("http=closed no metrics error={}", log::outside(bound.error().message));
  }

  Observation& observation_;
  Page page_;
  http::Server server_;
  File list_;                         // open, and nothing in it yet
  std::optional<WrongCounts> wrong_;  // what is in the one that was written last
  bool unlisted_ = true;              // something was read since
  std::int64_t list_from_ = 0;        // the next one, not before
  std::int64_t saved_at_ = 0;
  std::int64_t synced_at_ = 0;
  std::int64_t told_at_ = 0;
};

}  // namespace

Result<Json> observe(config::Settings settings, bool anew) {
  stop_requested = false;
  store::CrashMark::watch();
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  auto observation = Observation::open(std::move(settings), anew);
  if (!observation) return observation.error();
  return Observer(*observation.value()).run();
}

Result<Json> read_report(const config::Settings& settings) {
  const std::string path = observer_path(settings);
  const Error none{ErrorClass::kInvalid, 0,
                   "no report in " + path + ": start `resequencer observe`, or name its folder with --state-dir"};
  const auto folder = store::PrivateDirectory::open(path, store::PrivateDirectory::Missing::kRefuse);
  if (!folder) return none;
  std::ifstream file(path + "/" + kReport);
  Json report = Json::parse(file, nullptr, false);
  if (!report.is_object()) return none;
  // The lock is free: whoever wrote "running" does not run any more.
  if (report.value("state", "") == "running" && folder.value().lock("lock", store::PrivateDirectory::Missing::kRefuse))
    report["state"] = "killed";
  return report;
}

}  // namespace reseq::observe
