#include "admin/asker.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <sys/random.h>

#include "admin/json_text.h"
#include "base/assert.h"

namespace reseq::admin {

namespace {

// At once: others may write without end.
constexpr std::size_t kHeardMax = 1'000;

// So that nobody takes the answer to another client's question for its own.
std::string draw_correlation_id() {
  std::array<unsigned char, 16> bytes{};
  RESEQ_ASSERT(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
               "the kernel gave no random bytes");
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

}  // namespace

Result<> Asker::ask(const Request& request, const std::function<bool(const Json& reply)>& take) {
  using Clock = std::chrono::steady_clock;
  const std::string correlation_id = draw_correlation_id();
  const std::array<Header, 1> headers = {Header{header::kCorrelationId, correlation_id}};
  if (auto sent = channel_->send(requests_, correlation_id, write_request(request), headers); !sent) return sent;
  if (auto arrived = channel_->flush(send_limit_); !arrived) return arrived;
  const auto until = Clock::now() + std::chrono::milliseconds(request.timeout.value());
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return Done{};
    const auto polled = channel_->poll(Milliseconds(left));
    if (!polled) return polled.error();
    const auto& record = polled.value();
    if (!record || header_of(*record, header::kCorrelationId) != correlation_id) continue;
    const Json reply = parse_object(record->payload.value_or(""));
    if (!reply.is_discarded() && take(reply)) return Done{};
  }
}

Result<> Asker::hear(const std::function<void(const Json& reply)>& take) {
  for (std::size_t i = 0; i < kHeardMax; ++i) {
    const auto polled = channel_->poll(Milliseconds(0));
    if (!polled) return polled.error();
    if (!polled.value()) break;
    const Json reply = parse_object(polled.value()->payload.value_or(""));
    if (!reply.is_discarded()) take(reply);
  }
  return Done{};
}

Result<> Asker::collect(const Query& query, Answers& answers, Milliseconds timeout, const HasAll& has_all) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::milliseconds(timeout.value());
  while (!has_all(answers)) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) break;
    auto asked = ask({query, std::min(Milliseconds(left), kRound)}, [&](const Json& reply) {
      answers.add(reply);
      return has_all(answers);
    });
    if (!asked) return asked;
    if (answers.refused() && answers.replies().empty())
      return Error{ErrorClass::kInvalid, 0, "refused: " + *answers.refused()};
    // Not at once: who had a partition before may still call it parked, and its owner answers in the same round.
    if (answers.rest_is_parked()) break;
  }
  return Done{};
}

}  // namespace reseq::admin
