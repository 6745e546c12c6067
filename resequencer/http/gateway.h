// Gateway: the default gateway of this host. In a container it is the machine that the container runs on: what that
// machine sends through a port that it publishes comes from there, while other containers come from addresses of their
// own.
// Thread rule: plain functions.
#pragma once

#include <string>
#include <string_view>

namespace reseq::http {

// `routes` as Linux tells them in /proc/net/route. As "172.18.0.1"; empty: there is none.
[[nodiscard]] std::string gateway_of(std::string_view routes);
// Of this host, as it is now.
[[nodiscard]] std::string default_gateway();

}  // namespace reseq::http
