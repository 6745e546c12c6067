#include "kafka/http_question.h"

#include <charconv>
#include <httplib.h>

namespace reseq::kafka {

namespace {

constexpr time_t kLimitSeconds = 2;

}  // namespace

// [PROTOCOL://]HOST:PORT/BROKER: what happened
std::string address_in(std::string_view told) {
  const std::size_t protocol = told.substr(0, told.find(' ')).find("://");
  if (protocol != std::string_view::npos) told.remove_prefix(protocol + 3);
  const std::size_t slash = told.find('/');
  if (slash == std::string_view::npos || told.substr(0, slash).find(' ') != std::string_view::npos) return "";
  return std::string(told.substr(0, slash));
}

bool answers_http(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return false;
  int port = 0;
  const char* const end = address.data() + address.size();
  if (std::from_chars(address.data() + colon + 1, end, port).ptr != end) return false;
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  httplib::Client client(host, port);
  client.set_connection_timeout(kLimitSeconds);
  client.set_read_timeout(kLimitSeconds);
  return static_cast<bool>(client.Get("/"));
}

}  // namespace reseq::kafka
