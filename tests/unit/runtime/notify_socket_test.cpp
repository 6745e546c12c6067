#include "runtime/process/notify_socket.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include "tests/support/log_lines.h"
#include "tests/support/process.h"

namespace reseq::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The supervisor's end: a real socket, and what has arrived at it.
class Supervisor {
 public:
  explicit Supervisor(const std::string& address) : descriptor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un own{};
    own.sun_family = AF_UNIX;
    if (address.size() >= sizeof own.sun_path) throw std::runtime_error("too long: " + address);
    std::memcpy(own.sun_path, address.data(), address.size());
    if (address[0] == '@') own.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    if (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&own), length) != 0)
      throw std::runtime_error("cannot bind " + address);
  }
  ~Supervisor() { ::close(descriptor_); }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // What has come since the last call, one entry per datagram. A datagram is here when the sender's call returns.
  std::vector<std::string> heard() {
    std::vector<std::string> all;
    char text[256];
    for (ssize_t got = 0; (got = ::recv(descriptor_, text, sizeof text, 0)) >= 0;)
      all.emplace_back(text, static_cast<std::size_t>(got));
    return all;
  }

 private:
  int descriptor_;
};

class NotifySocketTest : public testing::Test {
 protected:
  test::TempDir folder_;
  std::string path_ = folder_.path() + "/notify";
};

TEST_F(NotifySocketTest, SaysReadyAndStoppingToAPath) {
  Supervisor supervisor(path_);
  NotifySocket socket({.address = path_, .watchdog_usec = "", .watchdog_pid = ""});
  EXPECT_THAT(supervisor.heard(), IsEmpty());
  socket.ready();
  EXPECT_THAT(supervisor.heard(), ElementsAre("READY=1"));
  socket.stopping();
  EXPECT_THAT(supervisor.heard(), ElementsAre("STOPPING=1"));
}

TEST_F(NotifySocketTest, SpeaksToAnAbstractName) {
  const std::string name = "@" + path_;
  Supervisor supervisor(name);
  NotifySocket socket({.address = name, .watchdog_usec = "", .watchdog_pid = ""});
  socket.ready();
  EXPECT_THAT(supervisor.heard(), ElementsAre("READY=1"));
}

TEST_F(NotifySocketTest, ShowsItIsAliveInHalfOfTheTimeThatTheWatchdogAllows) {
  Supervisor supervisor(path_);
  NotifySocket socket({.address = path_, .watchdog_usec = "10000000", .watchdog_pid = std::to_string(::getpid())});
  socket.alive(Milliseconds(-70'000));
  EXPECT_THAT(supervisor.heard(), ElementsAre("WATCHDOG=1"));
  socket.alive(Milliseconds(-65'001));
  EXPECT_THAT(supervisor.heard(), IsEmpty());
  socket.alive(Milliseconds(-65'000));
  EXPECT_THAT(supervisor.heard(), ElementsAre("WATCHDOG=1"));
}

TEST_F(NotifySocketTest, ShowsNoLifeWithoutAWatchdogOrToThatOfAnotherProcess) {
  Supervisor supervisor(path_);
  NotifySocket without({.address = path_, .watchdog_usec = "", .watchdog_pid = ""});
  without.alive(Milliseconds(0));
  NotifySocket other({.address = path_, .watchdog_usec = "10000000", .watchdog_pid = "1"});
  other.alive(Milliseconds(0));
  EXPECT_THAT(supervisor.heard(), IsEmpty());
}

TEST_F(NotifySocketTest, IsSilentWithoutASupervisor) {
  const test::LogLines log;
  NotifySocket socket(NotifySocket::Wanted{});
  socket.ready();
  socket.alive(Milliseconds(0));
  socket.stopping();
  EXPECT_EQ(log.text(), "");
}

TEST_F(NotifySocketTest, WarnsWhenItCannotBeHeard) {
  const test::LogLines log;
  NotifySocket nobody({.address = path_, .watchdog_usec = "soon", .watchdog_pid = ""});
  EXPECT_THAT(log.text(), HasSubstr("WATCHDOG_USEC is no time: soon"));
  nobody.ready();
  EXPECT_THAT(log.text(), HasSubstr("READY=1: No such file or directory"));
  NotifySocket elsewhere({.address = "vsock:2:1234", .watchdog_usec = "", .watchdog_pid = ""});
  EXPECT_THAT(log.text(), HasSubstr("no socket of this host: vsock:2:1234"));
  NotifySocket longer({.address = "/" + std::string(200, 'x'), .watchdog_usec = "", .watchdog_pid = ""});
  EXPECT_THAT(log.text(), HasSubstr("too long"));
  longer.ready();
}

TEST(NotifySocketEnvironment, IsThatOfSystemd) {
  ::setenv("NOTIFY_SOCKET", "/run/systemd/notify", 1);
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  ::setenv("WATCHDOG_PID", "17", 1);
  const NotifySocket::Wanted wanted = NotifySocket::wanted();
  EXPECT_EQ(wanted.address, "/run/systemd/notify");
  EXPECT_EQ(wanted.watchdog_usec, "30000000");
  EXPECT_EQ(wanted.watchdog_pid, "17");
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  EXPECT_EQ(NotifySocket::wanted().address, "");
}

}  // namespace
}  // namespace reseq::runtime
