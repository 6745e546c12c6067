#include "runtime/desk/endpoint.h"

#include <utility>

#include "base/log.h"
#include "codec/base64.h"
#include "config/address.h"
#include "http/gateway.h"
#include "page/files.h"
#include "runtime/desk/health.h"
#include "runtime/desk/look_up.h"
#include "runtime/desk/metrics_text.h"

namespace reseq::runtime {

namespace {

constexpr Milliseconds kBindAgain{5'000};
constexpr int kUnavailable = 503;
// Each has a connection and a thread of its own, which sleeps.
constexpr std::size_t kViewersMax = 8;
// Each opens clients of its own.
constexpr std::size_t kLookUpsMax = 2;
constexpr std::size_t kOperationsMax = 1;
constexpr int kRefused = 409;

http::Answer answer_of(const Health& health, bool verbose) {
  return {.status = health.good ? 200 : kUnavailable,
          .body = (verbose ? health.lines : "") + (health.good ? "ok\n" : "no\n")};
}

std::string parameter(const http::Question& asked, const char* name) {
  const auto found = asked.parameters.find(name);
  return found == asked.parameters.end() ? "" : found->second;
}

// What was said, which may be nothing, and need not be text. None: it is missing, or no base64.
std::optional<std::string> error_of(const http::Question& asked) {
  if (asked.parameters.contains("error")) return parameter(asked, "error");
  if (!asked.parameters.contains("error_base64")) return std::nullopt;
  return codec::parse_base64(parameter(asked, "error_base64"));
}

// Who has it done is not known here, but that it was.
http::Answer answer_of(const char* operation, const std::string& what, const Result<std::string>& done) {
  if (done) {
    spdlog::info("page=operation operation={} what={}", operation, log::outside(what));
    return {.body = done.value(), .content_type = "application/json"};
  }
  spdlog::warn("page=operation operation={} what={} error={}", operation, log::outside(what),
               log::outside(done.error().message));
  const bool later =
      done.error().what_to_do == ErrorClass::kTimeout || done.error().what_to_do == ErrorClass::kRetriable;
  return {.status = later ? kUnavailable : kRefused, .body = done.error().message + "\n"};
}

}  // namespace

Endpoint::Endpoint(const Application& application, const Board& board, const Clock& clock, const Internals& internals,
                   const kafka::BrokerWatch& brokers, http::Broadcast& pictures)
    : application_(application),
      board_(board),
      clock_(clock),
      brokers_(brokers),
      stuck_after_(internals.stuck_after),
      page_operations_(internals.page_operations),
      done_(application.settings.http_listen.empty()),
      server_(paths(), streams(pictures), {}, application.settings.http_page_gateway ? http::default_gateway() : "") {}

// Look-ups under way are not waited for longer than they need to see it; of operations, which are short, the end is.
Endpoint::~Endpoint() {
  stop_ = true;
  server_.stop();
}

std::vector<http::Stream> Endpoint::streams(http::Broadcast& pictures) const {
  if (!application_.settings.http_page) return {};
  return {{"/page/pictures", [&pictures] { return pictures.listen(); }, kViewersMax}};
}

std::vector<http::Path> Endpoint::paths() {
  std::vector<http::Path> all = {{"/metrics", [this](const http::Question&) { return metrics(); }},
                                 {"/livez", [this](const http::Question& asked) { return livez(asked.verbose); }},
                                 {"/readyz", [this](const http::Question& asked) { return readyz(asked.verbose); }}};
  if (!application_.settings.http_page) return all;
  all.push_back({"/page/document",
                 [this](const http::Question& asked) {
                   return look_up(application_.settings, application_.client_log, asked, stop_);
                 },
                 http::For::kThisHost, kLookUpsMax});
  for (http::Path& operation : operations()) all.push_back(std::move(operation));
  for (const page::File& file : page::files())
    all.push_back({std::string(file.path),
                   [file](const http::Question&) {
                     return http::Answer{.body = std::string(file.body),
                                         .content_type = std::string(file.content_type)};
                   },
                   http::For::kThisHost});
  return all;
}

std::vector<http::Path> Endpoint::operations() const {
  const config::Settings& settings = application_.settings;
  if (!settings.http_page_operations) return {};
  std::vector<http::Path> all;
  if (page_operations_.reprocess)
    all.push_back({"/page/reprocess", [this, &settings](const http::Question& asked) {
                     const auto error = error_of(asked);
                     if (!error)
                       return http::Answer{.status = kRefused, .body = "error or error_base64 has to be there\n"};
                     return answer_of("reprocess", *error,
                                      page_operations_.reprocess(settings, *error, parameter(asked, "from")));
                   }});
  if (page_operations_.resume)
    all.push_back({"/page/resume", [this, &settings](const http::Question& asked) {
                     const std::string target = parameter(asked, "target");
                     return answer_of("resume-target", target, page_operations_.resume(settings, target));
                   }});
  for (http::Path& path : all) {
    path.whom = http::For::kThisHost;
    path.at_once_max = kOperationsMax;
    path.is_operation = true;
  }
  return all;
}

void Endpoint::look() {
  if (done_ || clock_.steady() < retry_at_) return;
  const std::string& listen = application_.settings.http_listen;
  const auto address = config::parse_address(listen);
  const auto bound = address ? server_.start(address.value().host, address.value().port) : Result<int>(address.error());
  done_ = bound.ok();
  retry_at_ = Milliseconds(clock_.steady().value() + kBindAgain.value());
  if (bound) return spdlog::info("http=open address={} port={}", log::outside(listen), bound.value());
  if (!told_)
    spdlog::warn("http=closed no page, metrics or health until it can listen error={}",
                 log::outside(bound.error().message));
  told_ = true;
}

http::Answer Endpoint::metrics() const {
  const auto away = brokers_.away();
  return {.body = metrics_text(application_, board_.look(), clock_.steady(), away ? away->lasts : Milliseconds(0)),
          .content_type = "text/plain; version=0.0.4; charset=utf-8"};
}

http::Answer Endpoint::livez(bool verbose) const {
  return answer_of(liveness(board_.look(), clock_.steady(), stuck_after_), verbose);
}

http::Answer Endpoint::readyz(bool verbose) const {
  const auto away = brokers_.away();
  return answer_of(readiness(board_.look(), static_cast<std::size_t>(application_.settings.workers),
                             away ? std::optional(away->since) : std::nullopt),
                   verbose);
}

}  // namespace reseq::runtime
