// HttpClient: one connection to OpenSearch over libcurl, kept open between requests. With several addresses it goes on
// to the next one when a request could not be carried out. The only place that includes libcurl.
// Invariants: passwords and keys are in no error and in no log line; an answer is at most kAnswerBytesMax long.
// Thread rule: one thread per object, but for interrupt(); open() may run in several threads at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/ids.h"

namespace reseq::opensearch {

struct HttpSettings {
  std::vector<std::string> urls;  // http(s)://host:port, without login
  std::string user{};
  std::string password{};
  std::string api_key{};  // instead of user and password
  std::string ca_file{};  // empty: those of the system
  std::string certificate_file{};
  std::string key_file{};
  bool gzip = false;
  Milliseconds connect_limit{10'000};
  Milliseconds request_limit{60'000};
};

// An error of what somebody has asked for.
[[nodiscard]] inline Error invalid(std::string message) {
  return {.what_to_do = ErrorClass::kInvalid, .code = 0, .message = std::move(message)};
}

enum class Method : unsigned char { kGet, kPost, kPut };

struct HttpAnswer {
  long status = 0;
  std::string_view body{};  // valid until the next request
};

class HttpClient {
 public:
  static constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;

  // kInvalid: the settings cannot be used.
  static Result<std::unique_ptr<HttpClient>> open(const HttpSettings& settings);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // `path` begins with a slash. A body is JSON, of _bulk lines of JSON. An answer of any status is one. kRetriable,
  // kTimeout: none came. kInvalid: none will, as TLS is set up.
  Result<HttpAnswer> send(Method method, const std::string& path, std::string_view body = {});

  // The request that is under way, and all later ones, end within a second with kTimeout. By any thread.
  void interrupt();

  // The address in use.
  [[nodiscard]] const std::string& url() const;

 private:
  struct Session;
  explicit HttpClient(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session_;
};

// A password goes without TLS to this machine only. kInvalid: it would go further.
[[nodiscard]] Result<> login_is_protected(const HttpSettings& settings, bool insecure_login);

}  // namespace reseq::opensearch
