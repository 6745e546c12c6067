#include "admin/inbox.h"

#include <array>
#include <utility>

namespace reseq::admin {

namespace {

// For replies, beside the configured one.
constexpr std::size_t kOtherTopicsMax = 100;

}  // namespace

bool Inbox::may_reply_on(const std::string& topic) {
  if (topic == replies_ || known_.contains(topic)) return true;
  // Brokers may make a topic for whoever writes to it: that must not be us.
  if (!topic.starts_with(replies_ + ".") || known_.size() >= kOtherTopicsMax || !channel_->exists(topic)) return false;
  known_.insert(topic);
  return true;
}

// Whoever forgot to say how he wants to be answered is told so, and not left to wait.
Incoming Inbox::read(const kafka::Record& record) {
  const std::string_view correlation_id = header_of(record, header::kCorrelationId).value_or("");
  if (correlation_id.empty() || correlation_id.size() > kCorrelationIdBytesMax)
    return {
        Refused{Refusal::kMalformedRequest, std::string(header::kCorrelationId) + " must be there and have 1 to " +
                                                std::to_string(kCorrelationIdBytesMax) +
                                                " bytes; this answer has partition/offset of the request in its place"},
        {std::to_string(record.where.partition.value()) + "/" + std::to_string(record.offset.value()), replies_}};
  ReplyTo to{std::string(correlation_id), std::string(header_of(record, header::kReplyTopic).value_or(replies_))};
  if (!may_reply_on(to.topic)) {
    to.topic = replies_;
    return {Refused{Refusal::kMalformedRequest, std::string(header::kReplyTopic) + " must be " + replies_ +
                                                    " or a topic that is there and begins with it and a dot"},
            std::move(to)};
  }
  return {parse_request(record.payload.value_or("")), std::move(to)};
}

Result<std::optional<Incoming>> Inbox::poll(Milliseconds limit) {
  auto polled = channel_->poll(limit);
  if (!polled) return polled.error();
  if (!polled.value()) return std::optional<Incoming>();
  return std::optional(read(*polled.value()));
}

Result<> Inbox::reply(const ReplyTo& to, std::string_view json) {
  const std::array<Header, 1> headers = {Header{header::kCorrelationId, to.correlation_id}};
  return channel_->send(to.topic, to.correlation_id, json, headers);
}

}  // namespace reseq::admin
