#include "admin/inbox.h"

#include <array>
#include <utility>

namespace reseq::admin {

namespace {

// For replies, beside the configured one.
constexpr std::size_t kOtherTopicsMax = 100;

}  // namespace

std::optional<ReplyTo> Inbox::reply_to(const kafka::Record& record) {
  const auto correlation_id = header_of(record, header::kCorrelationId);
  if (!correlation_id || correlation_id->empty() || correlation_id->size() > kCorrelationIdBytesMax)
    return std::nullopt;
  const std::string topic(header_of(record, header::kReplyTopic).value_or(replies_));
  if (topic == replies_ || known_.contains(topic)) return ReplyTo{std::string(*correlation_id), topic};
  // Brokers may make a topic for whoever writes to it: that must not be us.
  if (!topic.starts_with(replies_ + ".") || known_.size() >= kOtherTopicsMax || !channel_->exists(topic))
    return std::nullopt;
  known_.insert(topic);
  return ReplyTo{std::string(*correlation_id), topic};
}

Result<std::optional<Incoming>> Inbox::poll(Milliseconds limit) {
  auto polled = channel_->poll(limit);
  if (!polled) return polled.error();
  const auto& record = polled.value();
  if (!record) return std::optional<Incoming>();
  auto to = reply_to(*record);
  if (!to) {
    ++unanswerable_;
    return std::optional<Incoming>();
  }
  return std::optional(Incoming{parse_request(record->payload.value_or("")), std::move(*to)});
}

Result<> Inbox::reply(const ReplyTo& to, std::string_view json) {
  const std::array<Header, 1> headers = {Header{header::kCorrelationId, to.correlation_id}};
  return channel_->send(to.topic, to.correlation_id, json, headers);
}

}  // namespace reseq::admin
