#include "config/transport.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <string>
#include <string_view>

#include "config/values.h"

namespace reseq::config {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The last one counts, as in librdkafka; lower case.
std::string property(const Settings& settings, std::string_view name, const char* otherwise) {
  std::string found = otherwise;
  for (const auto& [key, value] : settings.kafka)
    if (key == name) found = lower(value);
  return found;
}

bool is_off(const std::string& flag) {
  return flag == "false" || flag == "f" || flag == "0";
}

// Of `host:port`, `[host]:port`, `PROTOCOL://host:port`.
std::string_view host_of(std::string_view address) {
  if (const std::size_t scheme = address.find("://"); scheme != std::string_view::npos)
    address.remove_prefix(scheme + 3);
  while (!address.empty() && address.front() == ' ') address.remove_prefix(1);
  if (address.starts_with('[')) return address.substr(1, address.find(']') - 1);
  return address.substr(0, address.rfind(':'));
}

bool is_loopback(std::string_view host) {
  in_addr address{};
  return ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 && ntohl(address.s_addr) >> 24U == 127;
}

bool stays_on_this_host(const std::string& bootstrap_servers) {
  std::string_view rest = bootstrap_servers;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view host = host_of(rest.substr(0, comma));
    if (host != "localhost" && host != "::1" && !is_loopback(host)) return false;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return true;
}

constexpr const char* kUnlessMeant = ", or set insecure_transport = true if that is meant";

}  // namespace

std::string mechanism_of(const Settings& settings) {
  std::string mechanism;
  for (const auto& [name, value] : settings.kafka)
    if (name == "sasl.mechanism" || name == "sasl.mechanisms") mechanism = value;
  return mechanism;
}

Result<> check_transport(const Settings& settings) {
  if (settings.insecure_transport) return Done{};
  if (is_off(property(settings, "enable.ssl.certificate.verification", "true")))
    return invalid(
        std::string("[kafka] enable.ssl.certificate.verification = false lets anybody stand in for the brokers: set "
                    "ssl.ca.location to the authority that signed their certificates") +
        kUnlessMeant);
  if (property(settings, "ssl.endpoint.identification.algorithm", "https") == "none")
    return invalid(
        std::string("[kafka] ssl.endpoint.identification.algorithm = none lets anybody with a certificate of the same "
                    "authority stand in for the brokers: leave it out") +
        kUnlessMeant);
  const std::string mechanism = lower(mechanism_of(settings));
  if (property(settings, "security.protocol", "plaintext") == "sasl_plaintext" &&
      (mechanism == "plain" || mechanism == "oauthbearer") && !stays_on_this_host(settings.bootstrap_servers))
    return invalid("[kafka] security.protocol = sasl_plaintext with sasl.mechanism = " +
                   std::string(mechanism == "plain" ? "PLAIN sends the password" : "OAUTHBEARER sends the token") +
                   " readable over the network: set security.protocol = \"sasl_ssl\"" + kUnlessMeant);
  return Done{};
}

}  // namespace reseq::config
