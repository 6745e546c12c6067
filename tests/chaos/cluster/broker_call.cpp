#include "tests/chaos/cluster/broker_call.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <string_view>
#include <vector>

#include "tests/chaos/proxy/socket.h"

namespace reseq::chaos {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int32_t kCorrelation = 1;
constexpr std::size_t kAnswerHead = 8;  // size, correlation

// False: nothing happened until then.
bool wait_for(const Socket& socket, short events, Clock::time_point until) {
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  if (rest.count() <= 0) return false;
  pollfd polled{.fd = socket.fd(), .events = events, .revents = 0};
  return ::poll(&polled, 1, static_cast<int>(rest.count())) > 0;
}

bool send_all(Socket& socket, std::string_view bytes, Clock::time_point until) {
  while (!bytes.empty()) {
    if (!wait_for(socket, POLLOUT, until)) return false;
    const auto [outcome, sent] = socket.send(bytes);
    if (outcome == Socket::Outcome::kEnded) return false;
    bytes.remove_prefix(sent);
  }
  return true;
}

}  // namespace

std::optional<std::string> call(std::uint16_t port, Api api, std::int16_t version, const WireWriter& body,
                                std::chrono::milliseconds limit) {
  const auto until = Clock::now() + limit;
  Socket socket = Socket::connect(port);
  WireWriter request;
  request.i16(static_cast<std::int16_t>(api)).i16(version).i32(kCorrelation).text("chaos").raw(body.bytes());
  if (!socket.open() || !send_all(socket, request.frame(), until)) return std::nullopt;
  FrameCutter cutter;
  std::vector<std::string> frames;
  while (frames.empty()) {
    std::array<char, 65'536> room;
    if (!wait_for(socket, POLLIN, until)) return std::nullopt;
    const auto [outcome, bytes] = socket.receive(room.data(), room.size());
    if (outcome == Socket::Outcome::kEnded) return std::nullopt;
    if (!cutter.append(std::string_view(room.data(), bytes), frames)) return std::nullopt;
  }
  return frames.front().substr(std::min(kAnswerHead, frames.front().size()));
}

}  // namespace reseq::chaos
