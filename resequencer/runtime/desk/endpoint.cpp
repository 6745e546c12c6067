#include "runtime/desk/endpoint.h"

#include <utility>

#include "base/log.h"
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

http::Answer answer_of(const Health& health, bool verbose) {
  return {.status = health.good ? 200 : kUnavailable,
          .body = (verbose ? health.lines : "") + (health.good ? "ok\n" : "no\n")};
}

}  // namespace

Endpoint::Endpoint(const Application& application, const Board& board, const Clock& clock, Milliseconds stuck_after,
                   const kafka::BrokerWatch& brokers, http::Broadcast& pictures)
    : application_(application),
      board_(board),
      clock_(clock),
      brokers_(brokers),
      stuck_after_(stuck_after),
      done_(application.settings.http_listen.empty()),
      server_(paths(), streams(pictures), {}, application.settings.http_page_gateway ? http::default_gateway() : "") {}

// Look-ups under way are not waited for longer than they need to see it.
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
  for (const page::File& file : page::files())
    all.push_back({std::string(file.path),
                   [file](const http::Question&) {
                     return http::Answer{.body = std::string(file.body),
                                         .content_type = std::string(file.content_type)};
                   },
                   http::For::kThisHost});
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
