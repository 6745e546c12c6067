#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>

namespace reseq::log {

namespace {
constexpr std::size_t kOutsideBytesMax = 256;
}

void open(std::string_view level) {
  auto logger = spdlog::stderr_logger_mt("resequencer");
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z level=%l %v");
  logger->set_level(spdlog::level::from_str(std::string(level)));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

std::string outside(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string line = "\"";
  for (const char c : text.substr(0, kOutsideBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      line += '\\';
      line += c;
    } else if (byte >= 0x20 && byte < 0x7F) {
      line += c;
    } else {
      line += "\\x";
      line += kHex[byte >> 4];
      line += kHex[byte & 15];
    }
  }
  line += '"';
  if (text.size() > kOutsideBytesMax) line += "(" + std::to_string(text.size()) + " bytes)";
  return line;
}

}  // namespace reseq::log
