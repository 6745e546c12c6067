// A port that is silent to Kafka's requests: does it answer to HTTP's? Many servers wait for the end of a line that a
// request of Kafka does not have.
// Thread rule: any thread; waits for some seconds at most.
#pragma once

#include <string>
#include <string_view>

namespace reseq::kafka {

// The broker that a client tells of, HOST:PORT, as it stands in front of what it tells. Empty: none does.
[[nodiscard]] std::string address_in(std::string_view told);

// Asks once, without TLS.
[[nodiscard]] bool answers_http(const std::string& address);

}  // namespace reseq::kafka
