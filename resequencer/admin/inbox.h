// Inbox: the side of an instance: takes requests in, sends replies out.
//
// A reply goes to the topic that the request names, which must be <app>.admin.replies or begin with it and a dot: a
// client must not make an instance write where the client itself may not.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "admin/channel.h"
#include "admin/query.h"

namespace reseq::admin {

// Whom an answer goes to.
struct ReplyTo {
  std::string correlation_id;
  std::string topic;
};

struct Incoming {
  std::variant<Request, Refused> asked;
  ReplyTo reply_to;
};

class Inbox {
 public:
  Inbox(std::unique_ptr<Channel> channel, std::string replies)
      : channel_(std::move(channel)), replies_(std::move(replies)) {}

  // The next request within `limit`, or none. One that cannot be answered as it wants (no correlation id, a topic for
  // the reply that is not allowed) is refused where all replies go. An error: open a new one.
  Result<std::optional<Incoming>> poll(Milliseconds limit);
  // kInvalid: it is too large for its topic.
  Result<> reply(const ReplyTo& to, std::string_view json);

 private:
  [[nodiscard]] bool may_reply_on(const std::string& topic);
  [[nodiscard]] Incoming read(const kafka::Record& record);

  std::unique_ptr<Channel> channel_;
  std::string replies_;
  std::set<std::string> known_;  // other topics for replies, which exist
};

}  // namespace reseq::admin
