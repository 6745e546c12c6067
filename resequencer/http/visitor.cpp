#include "http/visitor.h"

#include <algorithm>

namespace reseq::http {

namespace {

// 127.0.0.0/8, written as four numbers: a name like 127.0.0.1.example is none.
bool is_loopback_v4(std::string_view text) {
  const auto is_part = [](char one) { return one == '.' || (one >= '0' && one <= '9'); };
  return text.starts_with("127.") && std::all_of(text.begin(), text.end(), is_part);
}

bool is_let_in(std::string_view address, std::string_view gateway) {
  constexpr std::string_view kMapped = "::ffff:";
  if (address.starts_with(kMapped)) address.remove_prefix(kMapped.size());
  return address == "::1" || is_loopback_v4(address) || (!gateway.empty() && address == gateway);
}

bool names_this_host(std::string host) {
  std::transform(host.begin(), host.end(), host.begin(),
                 [](char one) { return one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one; });
  const std::size_t port = host.find_last_of(":]");
  if (port != std::string::npos && host[port] == ':') host.resize(port);
  return host == "localhost" || host == "[::1]" || is_loopback_v4(host);
}

}  // namespace

std::string_view refusal_of(const Visitor& visitor, std::string_view gateway) {
  if (!is_let_in(visitor.address, gateway))
    return "the page is for this host alone: come through a tunnel (ssh -L, kubectl port-forward)";
  if (!names_this_host(visitor.host))
    return "the page answers to localhost, 127.0.0.1 and [::1]: a proxy in front has to set Host to one of them";
  const bool foreign = visitor.fetch_site == "cross-site" || visitor.fetch_site == "same-site";
  if (foreign && visitor.fetch_dest != "document") return "asked by a page of another site";
  return {};
}

}  // namespace reseq::http
