#include "tests/chaos/cluster/broker_questions.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <string_view>

#include "tests/chaos/proxy/socket.h"
#include "tests/chaos/proxy/wire.h"

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

// The body of the answer.
std::optional<std::string> ask(std::uint16_t port, Api api, std::int16_t version, const WireWriter& body,
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

std::vector<int> read_nodes(WireReader& reader) {
  std::vector<int> nodes;
  for (std::int32_t count = reader.i32(); count > 0 && reader.good(); --count) nodes.push_back(reader.i32());
  return nodes;
}

void read_topic(WireReader& reader, std::vector<PartitionFacts>& found) {
  (void)reader.i16();  // error
  const std::string topic = reader.text();
  (void)reader.i8();  // is internal
  for (std::int32_t count = reader.i32(); count > 0 && reader.good(); --count) {
    PartitionFacts facts{.topic = topic, .replicas = {}, .in_sync = {}};
    (void)reader.i16();  // error: no leader
    facts.partition = reader.i32();
    facts.leader = std::max(0, reader.i32());
    facts.replicas = read_nodes(reader);
    facts.in_sync = read_nodes(reader);
    found.push_back(std::move(facts));
  }
}

}  // namespace

std::optional<int> ask_coordinator(std::uint16_t port, Coordinates what, const std::string& key,
                                   std::chrono::milliseconds limit) {
  WireWriter body;
  body.text(key).i8(static_cast<std::int8_t>(what));
  const auto answer = ask(port, Api::kFindCoordinator, 1, body, limit);
  if (!answer) return std::nullopt;
  WireReader reader(*answer);
  (void)reader.i32();  // throttle time
  const std::int16_t error = reader.i16();
  (void)reader.text();  // its words
  const std::int32_t node = reader.i32();
  if (!reader.good() || error != 0 || node <= 0) return std::nullopt;
  return node;
}

std::optional<std::vector<PartitionFacts>> ask_partitions(std::uint16_t port, std::chrono::milliseconds limit) {
  constexpr std::int32_t kAllTopics = -1;
  WireWriter body;
  body.i32(kAllTopics);
  const auto answer = ask(port, Api::kMetadata, 1, body, limit);
  if (!answer) return std::nullopt;
  WireReader reader(*answer);
  for (std::int32_t count = reader.i32(); count > 0 && reader.good(); --count) {  // brokers
    (void)reader.i32();                                                           // node
    (void)reader.text();                                                          // host
    (void)reader.i32();                                                           // port
    (void)reader.text();                                                          // rack
  }
  (void)reader.i32();  // controller
  std::vector<PartitionFacts> found;
  for (std::int32_t count = reader.i32(); count > 0 && reader.good(); --count) read_topic(reader, found);
  if (!reader.good()) return std::nullopt;
  return found;
}

}  // namespace reseq::chaos
