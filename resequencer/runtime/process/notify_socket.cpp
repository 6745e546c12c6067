#include "runtime/process/notify_socket.h"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

#include "base/log.h"

namespace reseq::runtime {

namespace {

constexpr std::int64_t kMicrosPerMilli = 1000;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void warn(const std::string& text) {
  spdlog::warn("notify=failed error={}", log::outside(text));
}

// Half of what is allowed, so that one late sign of life ends nothing.
std::optional<Milliseconds> beat_of(const NotifySocket::Wanted& wanted) {
  if (wanted.watchdog_usec.empty()) return std::nullopt;
  if (!wanted.watchdog_pid.empty() && wanted.watchdog_pid != std::to_string(::getpid())) return std::nullopt;
  std::int64_t micros = 0;
  const char* end = wanted.watchdog_usec.data() + wanted.watchdog_usec.size();
  const auto parsed = std::from_chars(wanted.watchdog_usec.data(), end, micros);
  if (parsed.ec != std::errc() || parsed.ptr != end || micros <= 0) {
    warn("WATCHDOG_USEC is no time: " + wanted.watchdog_usec);
    return std::nullopt;
  }
  return Milliseconds(micros / (2 * kMicrosPerMilli));
}

}  // namespace

NotifySocket::Wanted NotifySocket::wanted() {
  return {variable("NOTIFY_SOCKET"), variable("WATCHDOG_USEC"), variable("WATCHDOG_PID")};
}

NotifySocket::NotifySocket(const Wanted& wanted) {
  if (wanted.address.empty()) return;
  open(wanted.address);
  beat_every_ = beat_of(wanted);
}

NotifySocket::~NotifySocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void NotifySocket::ready() {
  send("READY=1");
}

void NotifySocket::stopping() {
  send("STOPPING=1");
}

void NotifySocket::alive(Milliseconds steady) {
  if (!beat_every_ || (beat_at_ && steady.value() < beat_at_->value() + beat_every_->value())) return;
  beat_at_ = steady;
  send("WATCHDOG=1");
}

void NotifySocket::open(const std::string& address) {
  const bool abstract = address[0] == '@';
  if (!abstract && address[0] != '/') return warn("NOTIFY_SOCKET is no socket of this host: " + address);
  // A path takes a zero byte at its end, an abstract name has it in front.
  if (address.size() >= sizeof(sockaddr_un::sun_path)) return warn("NOTIFY_SOCKET is too long");
  descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) return warn("no socket: " + std::generic_category().message(errno));
  address_ = address;
  if (abstract) address_[0] = '\0';
}

void NotifySocket::send(const std::string& message) {
  if (descriptor_ < 0) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address_.data(), address_.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  if (::sendto(descriptor_, message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to),
               length) < 0)
    warn(message + ": " + std::generic_category().message(errno));
}

}  // namespace reseq::runtime
