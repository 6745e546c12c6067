// TLS trouble: why a TLS connection to the brokers did not come about, and the fix, from what librdkafka tells and from
// the verdict on the broker's certificate.
// Thread rule: pure function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reseq::kafka {

// `certificate_error`: X509_V_ERR_… of OpenSSL, 0 = none. Nothing: it is no trouble of certificates.
[[nodiscard]] std::optional<std::string> tls_trouble(std::string_view told, int certificate_error);

}  // namespace reseq::kafka
