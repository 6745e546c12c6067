#include "kafka/tls_trouble.h"

#include <algorithm>
#include <array>

namespace reseq::kafka {

namespace {

constexpr const char* kUntrusted =
    "the authority that signed the broker's certificate is not trusted: set ssl.ca.location in [kafka] to its "
    "certificate (PEM)";
constexpr const char* kOtherName =
    "the broker's certificate is for another name: connect by a name that its subjectAltName has, or have the names of "
    "bootstrap.servers and advertised.listeners added to it";
constexpr const char* kExpired = "the broker's certificate has expired: renew it, or set the clock of this host right";
constexpr const char* kNotYetValid =
    "the broker's certificate is not valid yet: set the clock of this host right, or wait";
constexpr const char* kOurs =
    "the broker wants a client certificate that it trusts: set ssl.certificate.location and ssl.key.location in "
    "[kafka]";

struct Verdict {
  int number;  // as in OpenSSL's x509_vfy.h, which never renumbers them
  const char* trouble;
};
constexpr std::array<Verdict, 10> kVerdicts = {{
    {2, kUntrusted},    // UNABLE_TO_GET_ISSUER_CERT
    {9, kNotYetValid},  // CERT_NOT_YET_VALID
    {10, kExpired},     // CERT_HAS_EXPIRED
    {18, kUntrusted},   // DEPTH_ZERO_SELF_SIGNED_CERT
    {19, kUntrusted},   // SELF_SIGNED_CERT_IN_CHAIN
    {20, kUntrusted},   // UNABLE_TO_GET_ISSUER_CERT_LOCALLY
    {21, kUntrusted},   // UNABLE_TO_VERIFY_LEAF_SIGNATURE
    {27, kUntrusted},   // CERT_UNTRUSTED
    {62, kOtherName},   // HOSTNAME_MISMATCH
    {64, kOtherName},   // IP_ADDRESS_MISMATCH
}};

// Alerts by which a broker refuses the certificate of its client, or that it has none.
constexpr std::array<std::string_view, 6> kAlerts = {"alert bad certificate", "alert unsupported certificate",
                                                     "alert certificate",  // required, unknown, expired, revoked
                                                     "alert unknown ca",      "alert access denied",
                                                     "alert no certificate"};

}  // namespace

std::optional<std::string> tls_trouble(std::string_view told, int certificate_error) {
  if (certificate_error != 0) {
    const auto known = std::find_if(kVerdicts.begin(), kVerdicts.end(),
                                    [&](const Verdict& verdict) { return verdict.number == certificate_error; });
    if (known != kVerdicts.end()) return known->trouble;
    return "the broker's certificate is refused (X509 error " + std::to_string(certificate_error) +
           " of OpenSSL): renew it, or correct ssl.* in [kafka]";
  }
  if (std::any_of(kAlerts.begin(), kAlerts.end(),
                  [&](std::string_view alert) { return told.find(alert) != std::string_view::npos; }))
    return kOurs;
  return std::nullopt;
}

}  // namespace reseq::kafka
