#include "http/gateway.h"

#include <gtest/gtest.h>

namespace reseq::http {
namespace {

constexpr const char* kColumns =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

// As in a container: the gateway of its bridge, and the neighbours that need none.
TEST(Gateway, IsThatOfTheDefaultRoute) {
  const std::string bridge = "eth0\t000012AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n";
  const std::string routed = "eth0\t0000140A\t020012AC\t0003\t0\t0\t0\t0000FFFF\t0\t0\t0\n";
  const std::string all = "eth0\t00000000\t010012AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";
  EXPECT_EQ(gateway_of(kColumns + bridge + routed + all), "172.18.0.1");
  EXPECT_EQ(gateway_of(kColumns + all), "172.18.0.1");
  const std::string half = "tun0\t00000000\t0100080A\t0003\t0\t0\t0\t00000080\t0\t0\t0\n";
  EXPECT_EQ(gateway_of(kColumns + half + all), "172.18.0.1") << "the gateway of a tunnel was let in";
}

TEST(Gateway, MayBeMissing) {
  for (const char* routes : {"", kColumns, "eth0", "eth0\t00000000\t010012AC\t0003\n"})
    EXPECT_EQ(gateway_of(routes), "");
  // A default route to a line without a gateway, as of a tunnel.
  EXPECT_EQ(gateway_of(std::string(kColumns) + "tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n"), "");
  EXPECT_EQ(gateway_of(std::string(kColumns) + "eth0\tnothing of ours\n"), "");
}

}  // namespace
}  // namespace reseq::http
