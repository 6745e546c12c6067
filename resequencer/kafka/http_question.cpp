#include "kafka/http_question.h"

#include <array>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace reseq::kafka {

namespace {

constexpr timeval kLimit{.tv_sec = 2, .tv_usec = 0};  // of connecting, of asking, of the answer
constexpr std::string_view kQuestion = "GET / HTTP/1.0\r\n\r\n";
constexpr std::string_view kAnswer = "HTTP/";

bool answers(int connection, const addrinfo& place) {
  (void)::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &kLimit, sizeof kLimit);  // connect, too
  (void)::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kLimit, sizeof kLimit);
  if (::connect(connection, place.ai_addr, place.ai_addrlen) != 0) return false;
  if (::send(connection, kQuestion.data(), kQuestion.size(), MSG_NOSIGNAL) < 0) return false;
  std::array<char, kAnswer.size()> begin{};
  const ssize_t size = ::recv(connection, begin.data(), begin.size(), MSG_WAITALL);
  return size == static_cast<ssize_t>(begin.size()) && std::string_view(begin.data(), begin.size()) == kAnswer;
}

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
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICSERV;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), address.c_str() + colon + 1, &wanted, &found) != 0) return false;
  bool http = false;
  if (const int connection = ::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol);
      connection >= 0) {
    http = answers(connection, *found);
    ::close(connection);
  }
  ::freeaddrinfo(found);
  return http;
}

}  // namespace reseq::kafka
