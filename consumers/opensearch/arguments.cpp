#include "consumers/opensearch/arguments.h"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/log.h"
#include "base/secrets.h"

namespace reseq::opensearch {
namespace {

constexpr const char* kNoUpdates =
    "partial updates have no version that the server compares, so an older result could overwrite a newer one: only "
    "whole documents are written";

Result<std::string> read_file(const std::string& option, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return invalid(option + ": " + path + " cannot be read");
  return text;
}

// The file wins.
Result<std::string> read_secret(const char* variable, const std::string& option, const std::string& path) {
  std::string secret;
  if (!path.empty()) {
    Result<std::string> text = read_secret_file(path);
    if (!text) return invalid(option + ": " + text.error().message);
    secret = std::move(text).value();
    if (secret.ends_with('\r')) secret.pop_back();
    if (secret.empty()) return invalid(option + ": " + path + " is empty");
  } else if (const char* value = std::getenv(variable); value != nullptr) {
    secret = value;
  }
  // It becomes a header line.
  if (secret.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
    return invalid(std::string(variable) + " or " + option + " holds a line break");
  if (!secret.empty()) log::hide_secret(secret);
  return secret;
}

Result<> read_login(const Arguments& arguments, HttpSettings& http) {
  Result<std::string> password = read_secret(kPasswordVariable, "--password-file", arguments.password_file);
  if (!password) return password.error();
  Result<std::string> key = read_secret(kApiKeyVariable, "--api-key-file", arguments.api_key_file);
  if (!key) return key.error();
  http.user = arguments.user;
  http.password = password.value();
  http.api_key = key.value();
  if (!http.user.empty() && http.password.empty())
    return invalid(std::string("--user needs a password: ") + kPasswordVariable + " or --password-file");
  if (http.user.empty() && !http.password.empty())
    return invalid(std::string("there is a password in ") + kPasswordVariable + " or --password-file, but no --user");
  if (!http.api_key.empty() && !http.user.empty())
    return invalid("a user and an API key: one of them is enough, and which one is meant cannot be told");
  return login_is_protected(http, arguments.insecure_login);
}

}  // namespace

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--url", arguments.urls, "http(s)://host:port of OpenSearch; more of them, comma separated")
      ->envname("RESEQ_OPENSEARCH_URL")
      ->delimiter(',')
      ->required();
  app.add_option("--index", arguments.index, "alias for who searches; the index behind it is <index>-v<generation>")
      ->required();
  app.add_option("--generation", arguments.generation, "of the index; raise it to load a new one beside the old one")
      ->check(CLI::Range(1U, 999'999U))
      ->capture_default_str();
  app.add_option("--index-body", arguments.index_body_file,
                 "file of JSON, settings and mappings of an index that is made");
  app.add_option("--refresh-interval", arguments.refresh_interval, "of an index that is made, as in 5s");
  app.add_option("--payload", arguments.payload,
                 "json: the payload is the document, a JSON object; text: it is any bytes, and becomes the field text, "
                 "or base64 where it is no UTF-8")
      ->check(CLI::IsMember({"json", "text"}))
      ->capture_default_str();
  app.add_option("--deletes", arguments.deletes,
                 "tombstone: deleted documents are hidden and remembered; hard: the server forgets them after "
                 "index.gc_deletes, an older result may bring them back")
      ->check(CLI::IsMember({"tombstone", "hard"}))
      ->capture_default_str();
  app.add_option("--tombstone-retention", arguments.tombstone_retention,
                 "how long deleted documents are remembered: never (to remove them), or longer than the topic keeps "
                 "records, as in 30d")
      ->capture_default_str();
  app.add_option("--user", arguments.user, std::string("password in ") + kPasswordVariable + " or --password-file");
  app.add_option("--password-file", arguments.password_file, "holds the password");
  app.add_option("--api-key-file", arguments.api_key_file,
                 std::string("holds an API key, as ") + kApiKeyVariable + " does; instead of a user");
  app.add_option("--ca-file", arguments.ca_file, "authorities (PEM) that may sign the server's certificate");
  app.add_option("--certificate", arguments.certificate_file, "our own certificate (PEM)");
  app.add_option("--key", arguments.key_file, "its key (PEM)");
  app.add_flag("--insecure-login", arguments.insecure_login, "the login may go without TLS over the network");
  app.add_flag("--gzip", arguments.gzip, "compress requests");
  app.add_option("--request-limit", arguments.request_limit_s, "seconds that a request may take")
      ->check(CLI::Range(1, 3'600))
      ->capture_default_str();
  app.add_option("--request-bytes", arguments.request_bytes_max, "of a request; a larger document goes alone")
      ->check(CLI::Range(std::size_t{1'000}, std::size_t{1} << 30))
      ->capture_default_str();
  // Who looks for it gets the reason, and not that there is no such option.
  app.add_option_function<std::string>(
         "--write-method", [](const std::string&) {}, "index, and nothing else")
      ->check([](const std::string& method) { return method == "index" ? std::string() : std::string(kNoUpdates); });
}

Result<StoreSettings> settings_of(const Arguments& arguments, sink::Check check) {
  StoreSettings settings;
  settings.check = check;
  settings.http.urls = arguments.urls;
  settings.http.ca_file = arguments.ca_file;
  settings.http.certificate_file = arguments.certificate_file;
  settings.http.key_file = arguments.key_file;
  settings.http.gzip = arguments.gzip;
  settings.http.request_limit = Milliseconds(static_cast<std::int64_t>(arguments.request_limit_s) * 1'000);
  settings.bulk.request_bytes = arguments.request_bytes_max;
  if (Result<> login = read_login(arguments, settings.http); !login) return login.error();
  settings.index.name = arguments.index;
  settings.index.generation = arguments.generation;
  settings.index.refresh_interval = arguments.refresh_interval;
  settings.payload = arguments.payload == "text" ? PayloadForm::kText : PayloadForm::kJson;
  settings.index.hard_deletes = arguments.deletes == "hard";
  if (!arguments.index_body_file.empty()) {
    Result<std::string> body = read_file("--index-body", arguments.index_body_file);
    if (!body) return body.error();
    settings.index.body = std::move(body).value();
  }
  if (arguments.tombstone_retention == "never") return settings;
  settings.tombstone_retention = parse_duration(arguments.tombstone_retention);
  if (!settings.tombstone_retention)
    return invalid("--tombstone-retention is never, or a number with s, m, h or d behind it, as in 30d");
  return settings;
}

std::optional<Milliseconds> parse_duration(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  constexpr std::int64_t kMost = 100'000;
  if (code != std::errc() || number <= 0 || number > kMost || end - stop != 1) return std::nullopt;
  switch (*stop) {
    case 's':
      return Milliseconds(number * 1'000);
    case 'm':
      return Milliseconds(number * 60'000);
    case 'h':
      return Milliseconds(number * 3'600'000);
    case 'd':
      return Milliseconds(number * 86'400'000);
    default:
      return std::nullopt;
  }
}

}  // namespace reseq::opensearch
