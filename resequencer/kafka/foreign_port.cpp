#include "kafka/foreign_port.h"

#include <array>
#include <charconv>
#include <cstdint>

namespace reseq::kafka {

namespace {

constexpr std::string_view kSize = "Invalid response size ";
constexpr std::string_view kSilent = "ApiVersionRequest failed: Local: Timed out";
constexpr std::uint32_t kTlsAlert = 0x1503;  // a record of TLS 1.x: its kind, and the first byte of the version

bool is_text(const std::array<char, 4>& bytes) {
  for (const char byte : bytes)
    if (byte < 0x20 || byte > 0x7E) return false;
  return true;
}

}  // namespace

std::optional<ForeignPort> foreign_port(std::string_view told) {
  if (told.find(kSilent) != std::string_view::npos)
    return ForeignPort{false,
                       "it takes connections and does not answer as Kafka does: a broker that hangs, or the port of "
                       "another service"};
  const std::size_t at = told.find(kSize);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = told.substr(at + kSize.size());
  std::int32_t size = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), size).ec != std::errc()) return std::nullopt;
  const auto word = static_cast<std::uint32_t>(size);
  if (word >> 16U == kTlsAlert)
    return ForeignPort{true, "it speaks TLS: set security.protocol in [kafka] to ssl or sasl_ssl"};
  const std::array<char, 4> bytes = {static_cast<char>(word >> 24U), static_cast<char>(word >> 16U),
                                     static_cast<char>(word >> 8U), static_cast<char>(word)};
  // A larger answer of a Kafka than we take is no text.
  if (!is_text(bytes)) return std::nullopt;
  const std::string text(bytes.data(), bytes.size());
  return ForeignPort{true, "it is no Kafka" + std::string(text == "HTTP" ? " but an HTTP server" : "") +
                               ", its answer begins with \"" + text + "\": correct the port in bootstrap.servers"};
}

ForeignPort http_port() {
  return {true, "it is no Kafka but an HTTP server: correct the port in bootstrap.servers"};
}

}  // namespace reseq::kafka
