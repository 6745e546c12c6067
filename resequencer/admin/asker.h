// Asker: the side of a client: sends a request and collects what the instances answer.
// Thread rule: one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "admin/channel.h"
#include "admin/document_json.h"
#include "admin/query.h"

namespace reseq::admin {

class Asker {
 public:
  Asker(std::unique_ptr<Channel> channel, std::string requests)
      : channel_(std::move(channel)), requests_(std::move(requests)) {}

  // Calls `take` with each reply until it says that it has all, or the request's time is over, which is no error:
  // `take` knows what it lacks. What is no JSON object is left out.
  Result<> ask(const Request& request, const std::function<bool(const Json& reply)>& take);

 private:
  std::unique_ptr<Channel> channel_;
  std::string requests_;
};

}  // namespace reseq::admin
