#include "config/address.h"

#include <charconv>

namespace reseq::config {

Result<Address> parse_address(const std::string& text) {
  const Error invalid{ErrorClass::kInvalid, 0, "\"" + text + "\" is no address: host:port, as 127.0.0.1:9464"};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return invalid;
  Address address{text.substr(0, colon), 0};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, address.port);
  if (error != std::errc() || stop != end || address.port < 0 || address.port > 65'535) return invalid;
  const bool brackets = address.host.front() == '[' && address.host.back() == ']' && address.host.size() > 2;
  if (brackets) address.host = address.host.substr(1, address.host.size() - 2);
  if (!brackets && address.host.find_first_of(":[]") != std::string::npos) return invalid;
  return address;
}

}  // namespace reseq::config
