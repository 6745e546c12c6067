// Server: answers GET of a few fixed paths over HTTP, for scrapers, probes and the page, and POST of operations.
// It never touches what it tells of: each path has a function that makes its answer from values that somebody else
// published, or that takes its time in a thread of the server, of which there are enough for as many as are let in at
// once. A connection is good for one request, and what it may take is bounded (limits.h).
// Thread rule: start() and stop() from one thread; the functions are called from threads of the server.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/limits.h"

namespace reseq::http {

struct Question {
  bool verbose = false;                                // ?verbose was asked for
  std::map<std::string, std::string> parameters = {};  // decoded; of a name that comes twice the first
};

struct Answer {
  int status = 200;
  std::string body = {};
  std::string content_type = "text/plain; charset=utf-8";
};

enum class For : unsigned char { kAnybody, kThisHost };  // visitor.h says who that is

struct Path {
  std::string path;
  std::function<Answer(const Question&)> answer;
  For whom = For::kAnybody;
  std::size_t at_once_max = 0;  // of those that take their time: 503 beyond; 0: it answers at once
  // It changes something: POST without a body, and with kOperationHeader, which no page of another site can send.
  bool is_operation = false;
};
inline constexpr const char* kOperationHeader = "Reseq-Page";

// Who listens to a stream, for as long as the connection lasts.
class Listener {
 public:
  virtual ~Listener() = default;
  // The next event, a single line, within `limit`; null: none yet.
  virtual std::shared_ptr<const std::string> next(std::chrono::milliseconds limit) = 0;
};

// Server-sent events. For this host alone; 503 for those beyond `at_once_max`.
struct Stream {
  std::string path;
  std::function<std::unique_ptr<Listener>()> listen;
  std::size_t at_once_max = 1;
};

class Server {
 public:
  // `gateway`: an address that is let in to what is for this host alone; empty: none.
  explicit Server(const std::vector<Path>& paths, const std::vector<Stream>& streams = {}, const Limits& limits = {},
                  const std::string& gateway = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds and answers from then on; the port that it is bound to (`port` 0: the kernel chooses). kRetriable: the
  // address is taken, or not one of this host.
  Result<int> start(const std::string& host, int port);
  // Waits for answers under way; streams end.
  void stop();

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace reseq::http
