#include "http/gateway.h"

#include <arpa/inet.h>
#include <array>
#include <fstream>
#include <iterator>
#include <net/route.h>
#include <netinet/in.h>
#include <sstream>

namespace reseq::http {

std::string gateway_of(std::string_view routes) {
  std::istringstream lines{std::string(routes)};
  std::string line;
  std::getline(lines, line);  // names of the columns
  while (std::getline(lines, line)) {
    std::istringstream columns(line);
    std::string interface;
    std::uint32_t destination = 0, gateway = 0, flags = 0, references = 0, uses = 0, metric = 0, mask = 0;
    columns >> interface >> std::hex >> destination >> gateway >> flags >> references >> uses >> metric >> mask;
    // With a mask it is half of all addresses, as tunnels set it in front of the default route.
    if (!columns || destination != 0 || mask != 0 || (flags & RTF_GATEWAY) == 0) continue;
    // The kernel prints the address as it lies in memory.
    in_addr address = {};
    address.s_addr = gateway;
    std::array<char, INET_ADDRSTRLEN> text = {};
    if (::inet_ntop(AF_INET, &address, text.data(), text.size()) != nullptr) return text.data();
  }
  return {};
}

std::string default_gateway() {
  std::ifstream file("/proc/net/route");
  return gateway_of(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace reseq::http
