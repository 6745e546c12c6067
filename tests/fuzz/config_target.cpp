// Configuration files: what is refused says why; what is read prints as a file that reads as
// the same settings, secrets apart, and passes the same rules again.
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/assert.h"
#include "base/secrets.h"
#include "config/print.h"
#include "config/settings.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

// Settings come from the environment as well.
bool without_overrides() {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string line(*entry);
    if (line.starts_with("RESEQ_")) names.push_back(line.substr(0, line.find('=')));
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
  return true;
}

}  // namespace

void fuzz_config(std::string_view input) {
  static const bool kAlone = without_overrides();
  RESEQ_ASSERT(kAlone, "settings from the environment");
  const auto settings = config::parse(std::string(input), "app.toml");
  if (!settings) {
    RESEQ_ASSERT(!settings.error().message.empty(), "a refusal without a reason");
    return;
  }
  const std::string printed = config::print(settings.value());
  const auto again = config::parse(printed, "printed.toml");
  RESEQ_ASSERT(again.ok(), "a printed configuration that cannot be read");
  RESEQ_ASSERT(config::print(again.value()) == printed, "a configuration that changes when it is printed");
  config::Settings other = settings.value();
  for (auto& [name, value] : other.kafka)
    if (is_secret(name) || !config::is_harmless(name)) value += "?";
  RESEQ_ASSERT(config::print(other) == printed, "what is printed tells something of a secret");
}

}  // namespace reseq::fuzz
