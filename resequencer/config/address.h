// Address: where to listen, host:port. An IPv6 host stands in brackets.
// Thread rule: pure function.
#pragma once

#include <string>

#include "base/result.h"

namespace reseq::config {

struct Address {
  std::string host;
  int port = 0;  // 0: any that is free
};

// kInvalid: it is none.
[[nodiscard]] Result<Address> parse_address(const std::string& text);

}  // namespace reseq::config
