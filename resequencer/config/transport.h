// Transport: what would let others read a password on its way, or stand in for the brokers, is refused unless
// insecure_transport says that it is meant (docs/decisions/0081-transport.md).
// Thread rule: pure function.
#pragma once

#include <string>

#include "base/result.h"
#include "config/settings.h"

namespace reseq::config {

// kInvalid names the property and the fix.
[[nodiscard]] Result<> check_transport(const Settings& settings);

// The SASL mechanism in [kafka], under either name; of two the last counts. Empty: none is set.
[[nodiscard]] std::string mechanism_of(const Settings& settings);

}  // namespace reseq::config
