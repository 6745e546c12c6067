#include "base/secrets.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "base/log.h"

namespace reseq {

bool is_secret(std::string_view kafka_property) {
  constexpr std::array<std::string_view, 6> kParts = {"password", "passphrase",  "secret",
                                                      "key.pem",  "private.key", "oauthbearer.config"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return kafka_property.find(part) != std::string_view::npos; });
}

Result<std::string> read_secret_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line))
    return Error{ErrorClass::kInvalid, 0, "the file " + path + " cannot be read, or is empty"};
  if (line.ends_with('\r')) line.pop_back();  // written on Windows
  log::hide_secret(line);
  return line;
}

}  // namespace reseq
