#include "base/log.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <spdlog/sinks/stdout_sinks.h>
#include <utility>
#include <vector>

#include "base/json_lines.h"

namespace reseq::log {

namespace {

constexpr std::size_t kOutsideBytesMax = 256;
constexpr std::size_t kSecretBytesMin = 4;
constexpr std::string_view kHidden = "********";

bool json = false;  // written by open() alone

// Longest first, so that no part of one stays behind another.
std::vector<std::string>& secrets() {
  static std::vector<std::string> all;
  return all;
}

std::string without_secrets(std::string_view text) {
  std::string shown(text);
  for (const std::string& secret : secrets())
    for (std::size_t at = shown.find(secret); at != std::string::npos; at = shown.find(secret, at + kHidden.size()))
      shown.replace(at, secret.size(), kHidden);
  return shown;
}

void append_printable(char c, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte < 0x7F) {
    out += c;
    return;
  }
  out += "\\x";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

}  // namespace

Format format_of(std::string_view name) {
  return name == "json" ? Format::kJson : Format::kText;
}

void open(std::string_view level, Format format) {
  auto logger = spdlog::stderr_logger_mt("resequencer");
  if (format == Format::kJson)
    logger->set_formatter(std::make_unique<JsonLines>());
  else
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z level=%l %v");
  json = format == Format::kJson;
  logger->set_level(spdlog::level::from_str(std::string(level)));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

void say_last(std::string_view program, std::string_view message) {
  const std::string line = one_line(message);
  if (json)
    spdlog::critical("{}", line);
  else
    std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(program.size()), program.data(), line.c_str());
}

void hide_secret(std::string text) {
  if (text.size() < kSecretBytesMin) return;
  secrets().push_back(std::move(text));
  std::sort(secrets().begin(), secrets().end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string outside(std::string_view text) {
  const std::string shown = without_secrets(text);
  std::string line = "\"";
  for (const char c : std::string_view(shown).substr(0, kOutsideBytesMax)) {
    if (c == '"' || c == '\\') line += '\\';
    append_printable(c, line);
  }
  line += '"';
  if (shown.size() > kOutsideBytesMax) line += "(" + std::to_string(shown.size()) + " bytes)";
  return line;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : without_secrets(text)) append_printable(c, line);
  return line;
}

}  // namespace reseq::log
