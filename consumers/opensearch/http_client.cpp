#include "consumers/opensearch/http_client.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <curl/curl.h>
#include <mutex>

#include "base/assert.h"
#include "consumers/opensearch/gzip.h"

namespace reseq::opensearch {
namespace {

constexpr long kKeepAliveIdleS = 60;
constexpr long kServerError = 500;  // and above

using Easy = std::unique_ptr<CURL, void (*)(CURL*)>;
using Lines = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;

Lines no_lines() {
  return {nullptr, curl_slist_free_all};
}

// Sets an option that cannot fail but for memory.
template <typename Value>
void set(const Easy& easy, CURLoption option, Value value) {
  RESEQ_ASSERT(curl_easy_setopt(easy.get(), option, value) == CURLE_OK, "an option that libcurl does not take");
}

void append(Lines& lines, const std::string& line) {
  curl_slist* longer = curl_slist_append(lines.get(), line.c_str());
  RESEQ_ASSERT(longer != nullptr, "out of memory");
  (void)lines.release();
  lines.reset(longer);
}

std::size_t take(char* bytes, std::size_t size, std::size_t count, void* into) {
  auto& answer = *static_cast<std::string*>(into);
  // Fewer bytes than there are end the request with CURLE_WRITE_ERROR.
  if (answer.size() + size * count > HttpClient::kAnswerBytesMax) return 0;
  answer.append(bytes, size * count);
  return size * count;
}

// Asked while a request is under way, at least once a second.
int ask_interrupt(void* interrupted, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return *static_cast<const std::atomic<bool>*>(interrupted) ? 1 : 0;
}

bool is_about_tls(CURLcode code) {
  constexpr std::array kCodes = {CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE,
                                 CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CIPHER};
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

std::string host_of(const std::string& url) {
  const std::size_t begin = url.find("://") + 3;
  if (url.compare(begin, 1, "[") == 0) return url.substr(begin + 1, url.find(']') - begin - 1);
  return url.substr(begin, url.find_first_of(":/", begin) - begin);
}

bool is_this_machine(const std::string& host) {
  in_addr address{};
  const bool is_number = ::inet_pton(AF_INET, host.c_str(), &address) == 1;  // 127.example.com is a name
  return host == "localhost" || host == "::1" || (is_number && host.starts_with("127."));
}

Result<> check_urls(const HttpSettings& settings) {
  if (settings.urls.empty()) return invalid("no address of OpenSearch: --url http(s)://host:port");
  for (const std::string& url : settings.urls) {
    if (!url.starts_with("http://") && !url.starts_with("https://"))
      return invalid("--url begins with http:// or https://, as in https://search.example:9200");
    if (url.find('@') != std::string::npos)
      return invalid("--url holds a login: name the user with --user, and the password by environment or file");
    if (host_of(url).empty()) return invalid("--url names no host");
  }
  return Done{};
}

}  // namespace

struct HttpClient::Session {
  HttpSettings settings;
  std::size_t current = 0;  // of settings.urls
  std::atomic<bool> interrupted = false;
  std::string answer;
  std::string compressed;
  std::array<char, CURL_ERROR_SIZE> words{};
  Lines json_lines = no_lines();
  Lines bulk_lines = no_lines();
  Easy easy{nullptr, curl_easy_cleanup};  // goes first: it points at the others

  void prepare();
  void prepare_tls() const;
  [[nodiscard]] Lines lines_for(const char* content_type) const;
  void set_body(Method method, std::string_view body);
  [[nodiscard]] Error error_of(CURLcode code) const;
};

HttpClient::HttpClient(std::unique_ptr<Session> session) : session_(std::move(session)) {}

HttpClient::~HttpClient() = default;

Result<std::unique_ptr<HttpClient>> HttpClient::open(const HttpSettings& settings) {
  if (Result<> usable = check_urls(settings); !usable) return usable.error();
  static std::once_flag once;
  std::call_once(once, [] { (void)curl_global_init(CURL_GLOBAL_DEFAULT); });
  auto session = std::make_unique<Session>();
  session->settings = settings;
  session->easy.reset(curl_easy_init());
  if (!session->easy) return Error{.what_to_do = ErrorClass::kFatal, .message = "libcurl cannot be initialised"};
  session->prepare();
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(session)));
}

void HttpClient::interrupt() {
  session_->interrupted = true;
}

const std::string& HttpClient::url() const {
  return session_->settings.urls[session_->current];
}

void HttpClient::Session::prepare() {
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  // What the environment says of proxies is meant for the internet, not for a server of one's own.
  set(easy, CURLOPT_PROXY, "");
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(easy, CURLOPT_TCP_NODELAY, 1L);
  set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  set(easy, CURLOPT_TCP_KEEPIDLE, kKeepAliveIdleS);
  set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(settings.connect_limit.value()));
  set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(settings.request_limit.value()));
  set(easy, CURLOPT_WRITEFUNCTION, &take);
  set(easy, CURLOPT_WRITEDATA, &answer);
  set(easy, CURLOPT_ERRORBUFFER, words.data());
  set(easy, CURLOPT_NOPROGRESS, 0L);
  set(easy, CURLOPT_XFERINFOFUNCTION, &ask_interrupt);
  set(easy, CURLOPT_XFERINFODATA, &interrupted);
  set(easy, CURLOPT_USERAGENT, "reseq-sink-opensearch");
  if (settings.gzip) set(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
  if (!settings.user.empty() && settings.api_key.empty()) {
    set(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    set(easy, CURLOPT_USERNAME, settings.user.c_str());
    set(easy, CURLOPT_PASSWORD, settings.password.c_str());
  }
  prepare_tls();
  json_lines = lines_for("application/json");
  bulk_lines = lines_for("application/x-ndjson");
}

void HttpClient::Session::prepare_tls() const {
  set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!settings.ca_file.empty()) set(easy, CURLOPT_CAINFO, settings.ca_file.c_str());
  if (!settings.certificate_file.empty()) set(easy, CURLOPT_SSLCERT, settings.certificate_file.c_str());
  if (!settings.key_file.empty()) set(easy, CURLOPT_SSLKEY, settings.key_file.c_str());
}

Lines HttpClient::Session::lines_for(const char* content_type) const {
  Lines lines = no_lines();
  append(lines, std::string("Content-Type: ") + content_type);
  append(lines, "Expect:");  // no round trip in front of a body
  if (!settings.api_key.empty()) append(lines, "Authorization: ApiKey " + settings.api_key);
  if (settings.gzip) append(lines, "Content-Encoding: gzip");
  return lines;
}

void HttpClient::Session::set_body(Method method, std::string_view body) {
  if (method == Method::kGet) {
    set(easy, CURLOPT_HTTPGET, 1L);
    set(easy, CURLOPT_CUSTOMREQUEST, static_cast<char*>(nullptr));
    return;
  }
  if (settings.gzip) {
    gzip(body, compressed);
    body = compressed;
  }
  set(easy, CURLOPT_POST, 1L);
  set(easy, CURLOPT_CUSTOMREQUEST, method == Method::kPut ? "PUT" : "POST");
  set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  set(easy, CURLOPT_POSTFIELDS, body.data() == nullptr ? "" : body.data());
}

Result<HttpAnswer> HttpClient::send(Method method, const std::string& path, std::string_view body) {
  Session& session = *session_;
  session.answer.clear();
  session.words.fill('\0');
  const bool lines = path.find("/_bulk") != std::string::npos;
  // A GET has no body, and says nothing of one.
  Lines none = no_lines();
  if (method == Method::kGet && !session.settings.api_key.empty())
    append(none, "Authorization: ApiKey " + session.settings.api_key);
  set(session.easy, CURLOPT_HTTPHEADER,
      method == Method::kGet ? none.get() : (lines ? session.bulk_lines.get() : session.json_lines.get()));
  set(session.easy, CURLOPT_URL, (url() + path).c_str());
  session.set_body(method, body);
  const CURLcode code = curl_easy_perform(session.easy.get());
  set(session.easy, CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
  if (code != CURLE_OK) {
    Error error = session.error_of(code);
    session.current = (session.current + 1) % session.settings.urls.size();
    return error;
  }
  HttpAnswer answer;
  curl_easy_getinfo(session.easy.get(), CURLINFO_RESPONSE_CODE, &answer.status);
  answer.body = session.answer;
  // A node that cannot reach its cluster answers; another one may do better.
  if (answer.status >= kServerError) session.current = (session.current + 1) % session.settings.urls.size();
  return answer;
}

Error HttpClient::Session::error_of(CURLcode code) const {
  const std::string words_of_curl = words[0] != '\0' ? words.data() : curl_easy_strerror(code);
  const std::string& where = settings.urls[current];
  if (is_about_tls(code))
    return invalid(
        "TLS with " + where + ": " + words_of_curl +
        ". --ca-file names the authority that signed its certificate, --certificate and --key those of ours");
  if (code == CURLE_ABORTED_BY_CALLBACK)
    return Error{.what_to_do = ErrorClass::kTimeout, .code = code, .message = "interrupted, because the sink ends"};
  if (code == CURLE_WRITE_ERROR)
    return Error{.what_to_do = ErrorClass::kRetriable, .code = code, .message = where + " answered more than 64 MiB"};
  return Error{.what_to_do = code == CURLE_OPERATION_TIMEDOUT ? ErrorClass::kTimeout : ErrorClass::kRetriable,
               .code = code,
               .message = "no answer from " + where + ": " + words_of_curl};
}

Result<> login_is_protected(const HttpSettings& settings, bool insecure_login) {
  if (insecure_login || (settings.password.empty() && settings.api_key.empty())) return Done{};
  for (const std::string& url : settings.urls) {
    if (url.starts_with("https://") || is_this_machine(host_of(url))) continue;
    return invalid("the login would go readable over the network to " + url +
                   ": use https, or say --insecure-login as well");
  }
  return Done{};
}

}  // namespace reseq::opensearch
