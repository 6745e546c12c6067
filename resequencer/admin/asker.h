// Asker: the side of a client: sends a request and collects what the instances answer.
// Thread rule: one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "admin/answers.h"
#include "admin/channel.h"
#include "admin/document_json.h"
#include "admin/query.h"

namespace reseq::admin {

// A round of questions: what was on its way to another instance meanwhile is asked for again in the next one.
inline constexpr Milliseconds kRound{1'500};

class Asker {
 public:
  using HasAll = std::function<bool(const Answers&)>;

  // `send_limit`: how long brokers may take to have a question.
  Asker(std::unique_ptr<Channel> channel, std::string requests, Milliseconds send_limit = Milliseconds(10'000))
      : channel_(std::move(channel)), requests_(std::move(requests)), send_limit_(send_limit) {}

  // Calls `take` with each reply until it says that it has all, or the request's time is over, which is no error:
  // `take` knows what it lacks. What is no JSON object is left out.
  Result<> ask(const Request& request, const std::function<bool(const Json& reply)>& take);
  // What has come by now of what instances answer to others. What is no JSON object is left out.
  Result<> hear(const std::function<void(const Json& reply)>& take);
  // Asks round after round until `has_all`, what is lacking is parked, or the time is over, which is no error.
  // kInvalid: the request is refused.
  Result<> collect(const Query& query, Answers& answers, Milliseconds timeout, const HasAll& has_all);

 private:
  std::unique_ptr<Channel> channel_;
  std::string requests_;
  Milliseconds send_limit_;
};

}  // namespace reseq::admin
