#include "http/server.h"

#include <array>
#include <atomic>
#include <httplib.h>
#include <set>
#include <sys/socket.h>
#include <thread>

#include "http/bounded_server.h"
#include "http/visitor.h"

namespace reseq::http {

namespace {

// Two viewers, a scraper and a probe at once are many. What takes its time has threads beside these.
constexpr std::size_t kThreads = 4;
constexpr int kForbidden = 403;
constexpr int kNotAllowed = 405;
constexpr int kLengthNeeded = 411;
constexpr int kBodyNotRead = 413;
constexpr int kBusy = 503;
// A stream looks so often whether the server stops.
constexpr std::chrono::milliseconds kStreamLook{250};
// Of silence on a stream: then something is written, which tells whether anybody still reads.
constexpr std::chrono::seconds kStreamSilence{5};

// Of every answer. Nothing is loaded from elsewhere, nothing of it is shown inside of another page or read by one.
constexpr std::array<std::pair<const char*, const char*>, 6> kHeaders = {{
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
     "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
}};

// httplib sets SO_REUSEPORT, with which a second process would get half of the connections instead of an error.
void reuse_address(socket_t socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

void give(const Answer& answer, httplib::Response& response) {
  response.status = answer.status;
  response.set_content(answer.body, answer.content_type);
}

bool lets_in(const httplib::Request& request, httplib::Response& response, const std::string& gateway) {
  const std::string_view why_not =
      refusal_of({request.remote_addr, request.get_header_value("Host"), request.get_header_value("Sec-Fetch-Site"),
                  request.get_header_value("Sec-Fetch-Dest")},
                 gateway);
  if (why_not.empty()) return true;
  give({.status = kForbidden, .body = std::string(why_not) + "\n"}, response);
  return false;
}

// One of those that are let in at once. Gives its place back when it is destroyed.
class Place {
 public:
  static std::shared_ptr<Place> take(const std::shared_ptr<std::atomic<std::size_t>>& taken, std::size_t at_once_max,
                                     httplib::Response& response) {
    std::shared_ptr<Place> place(new Place(taken));
    if (place->number_ < at_once_max) return place;
    give({.status = kBusy,
          .body = "no more than " + std::to_string(at_once_max) + " of these at once: try again later\n"},
         response);
    return nullptr;
  }
  ~Place() { --*taken_; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  explicit Place(std::shared_ptr<std::atomic<std::size_t>> taken) : taken_(std::move(taken)), number_((*taken_)++) {}
  std::shared_ptr<std::atomic<std::size_t>> taken_;
  std::size_t number_;
};

Question question_of(const httplib::Request& request) {
  Question asked{.verbose = request.has_param("verbose")};
  for (const auto& [name, value] : request.params) asked.parameters.emplace(name, value);
  return asked;
}

// Writes what one listener hears, as text/event-stream.
class Streaming {
 public:
  Streaming(std::unique_ptr<Listener> listener, std::shared_ptr<Place> place)
      : listener_(std::move(listener)), place_(std::move(place)) {}

  // False: nobody reads any more.
  bool step(httplib::DataSink& sink) {
    const auto event = listener_->next(kStreamLook);
    const auto now = std::chrono::steady_clock::now();
    if (event == nullptr && now - written_at_ < kStreamSilence) return sink.is_writable();
    written_at_ = now;
    const std::string text = event != nullptr ? "data: " + *event + "\n\n" : ":\n\n";
    return sink.write(text.data(), text.size());
  }

 private:
  std::unique_ptr<Listener> listener_;
  std::shared_ptr<Place> place_;
  std::chrono::steady_clock::time_point written_at_ = std::chrono::steady_clock::now();
};

// httplib 0.18 reads it also where a method has none.
bool has_body(const httplib::Request& request) {
  const std::string length = request.get_header_value("Content-Length");
  return request.has_header("Transfer-Encoding") || (!length.empty() && length != "0");
}

// A browser sends the header for a page of this server, and for another one only when we allow it, which nothing here
// does. Programs may send it, as curl -X POST -H 'Reseq-Page: 1' does.
bool is_meant(const httplib::Request& request, httplib::Response& response) {
  const std::string site = request.get_header_value("Sec-Fetch-Site");
  if (request.has_header(kOperationHeader) && (site.empty() || site == "same-origin")) return true;
  give({.status = kForbidden, .body = "this is an operation: only the page itself may ask for it\n"}, response);
  return false;
}

void serve(httplib::Server& server, const Path& path, const std::string& gateway) {
  const auto taken = std::make_shared<std::atomic<std::size_t>>(0);
  const auto answer = [path, taken, gateway](const httplib::Request& request, httplib::Response& response) {
    if (path.whom == For::kThisHost && !lets_in(request, response, gateway)) return;
    if (path.is_operation && !is_meant(request, response)) return;
    if (path.at_once_max == 0) return give(path.answer(question_of(request)), response);
    if (const auto place = Place::take(taken, path.at_once_max, response))
      give(path.answer(question_of(request)), response);
  };
  path.is_operation ? server.Post(path.path, answer) : server.Get(path.path, answer);
}

// 0: it may go on to its path.
int refused_before_routing(const httplib::Request& request, const std::set<std::string>& operations) {
  const bool operates = request.method == "POST" && operations.contains(request.path);
  if ((!operates && (request.method != "GET" || operations.contains(request.path))) || request.has_header("Range"))
    return kNotAllowed;
  if (has_body(request)) return kBodyNotRead;
  // httplib would read until the other end closes.
  return operates && !request.has_header("Content-Length") ? kLengthNeeded : 0;
}

void serve(httplib::Server& server, const Stream& stream, const std::string& gateway) {
  const auto taken = std::make_shared<std::atomic<std::size_t>>(0);
  server.Get(stream.path, [stream, taken, gateway](const httplib::Request& request, httplib::Response& response) {
    if (!lets_in(request, response, gateway)) return;
    auto place = Place::take(taken, stream.at_once_max, response);
    if (place == nullptr) return;
    const auto streaming = std::make_shared<Streaming>(stream.listen(), std::move(place));
    response.set_chunked_content_provider(
        "text/event-stream", [streaming](std::size_t, httplib::DataSink& sink) { return streaming->step(sink); });
  });
}

std::size_t threads_for(const std::vector<Path>& paths, const std::vector<Stream>& streams) {
  std::size_t threads = kThreads;
  for (const Path& path : paths) threads += path.at_once_max;
  for (const Stream& stream : streams) threads += stream.at_once_max;
  return threads;
}

}  // namespace

struct Server::Body {
  explicit Body(std::size_t threads, const Limits& limits) : server(threads, limits) {}
  BoundedServer server;
  std::atomic<bool> ended = false;
  std::thread thread;
};

Server::Server(const std::vector<Path>& paths, const std::vector<Stream>& streams, const Limits& limits,
               const std::string& gateway)
    : body_(std::make_unique<Body>(threads_for(paths, streams), limits)) {
  httplib::Server& server = body_->server;
  httplib::Headers headers;
  for (const auto& [name, value] : kHeaders) headers.emplace(name, value);
  server.set_default_headers(std::move(headers));
  server.set_socket_options(reuse_address);
  // Before a body is read; ranges of an answer nobody needs.
  std::set<std::string> operations;
  for (const Path& path : paths)
    if (path.is_operation) operations.insert(path.path);
  server.set_pre_routing_handler([operations](const httplib::Request& request, httplib::Response& response) {
    const int refused = refused_before_routing(request, operations);
    if (refused == 0) return httplib::Server::HandlerResponse::Unhandled;
    response.status = refused;
    return httplib::Server::HandlerResponse::Handled;
  });
  for (const Path& path : paths) serve(server, path, gateway);
  for (const Stream& stream : streams) serve(server, stream, gateway);
}

Server::~Server() {
  stop();
}

Result<int> Server::start(const std::string& host, int port) {
  httplib::Server& server = body_->server;
  const bool any = port == 0;
  const int bound = any ? server.bind_to_any_port(host) : server.bind_to_port(host, port) ? port : -1;
  if (bound < 0)
    return Error{ErrorClass::kRetriable, 0,
                 host + ":" + std::to_string(port) + " is taken, or is no address of this host"};
  body_->thread = std::thread([this] {
    body_->server.listen_after_bind();
    body_->ended = true;
  });
  return bound;
}

void Server::stop() {
  if (!body_->thread.joinable()) return;
  // A thread that has only just begun would not hear it.
  while (!body_->server.is_running() && !body_->ended) std::this_thread::yield();
  body_->server.stop();
  body_->thread.join();
}

}  // namespace reseq::http
