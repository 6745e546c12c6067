// Visitor: who asks over HTTP, and whether that is let in to what is for this host alone. There is no login: being on
// the host is what counts, and a browser on it may be led by a page of anybody.
//   - the connection comes from a loopback address, or from the gateway, where that is let in
//   - Host names this host: a foreign name that was made to resolve to loopback (DNS rebinding) does not
//   - a browser does not ask on behalf of another site (Sec-Fetch-Site), unless somebody followed a link
// Thread rule: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace reseq::http {

struct Visitor {
  std::string address = {};     // of the other end, without a port
  std::string host = {};        // the header Host
  std::string fetch_site = {};  // Sec-Fetch-Site; empty: no browser, or an old one
  std::string fetch_dest = {};  // Sec-Fetch-Dest
};

// Why not, for a person; empty: it is let in. `gateway`: an address that is let in as loopback is; empty: none.
[[nodiscard]] std::string_view refusal_of(const Visitor& visitor, std::string_view gateway = {});

}  // namespace reseq::http
