// Server: answers GET of a few fixed paths over HTTP, for scrapers and probes. It never touches what it tells of: each
// path has a function that makes its answer from values that somebody else published.
// Thread rule: start() and stop() from one thread; the functions are called from threads of the server.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace reseq::http {

struct Question {
  bool verbose = false;  // ?verbose was asked for
};

struct Answer {
  int status = 200;
  std::string body = {};
  std::string content_type = "text/plain; charset=utf-8";
};

using Path = std::pair<std::string, std::function<Answer(const Question&)>>;

class Server {
 public:
  explicit Server(const std::vector<Path>& paths);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds and answers from then on; the port that it is bound to (`port` 0: the kernel chooses). kRetriable: the
  // address is taken, or not one of this host.
  Result<int> start(const std::string& host, int port);
  // Waits for answers under way.
  void stop();

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace reseq::http
