#include "config/print.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <toml++/toml.h>

#include "base/secrets.h"

namespace reseq::config {

namespace {

constexpr std::string_view kMasked = "********";

std::string quoted(const std::string& text) {
  const toml::value<std::string> value(text);
  std::ostringstream out;
  out << toml::toml_formatter(value, toml::format_flags::none);
  return out.str();
}

template <typename Owner>
std::string value_of(const Owner& owner, const Key<Owner>& key) {
  if (key.text != nullptr) return quoted(owner.*(key.text));
  if (key.number != nullptr && *key.word != '\0' && owner.*(key.number) == kWord) return quoted(key.word);
  if (key.number != nullptr) return std::to_string(owner.*(key.number));
  if (key.flag != nullptr) return owner.*(key.flag) ? "true" : "false";
  std::string list;
  for (const std::string& one : owner.*(key.list)) list += (list.empty() ? "" : ", ") + quoted(one);
  return "[" + list + "]";
}

template <typename Owner>
void print_table(std::string& out, const Owner& owner, const std::vector<Key<Owner>>& all) {
  for (const Key<Owner>& key : all) out += std::string(key.name) + " = " + value_of(owner, key) + "\n";
}

template <typename Owner>
std::string row_of(const Key<Owner>& key) {
  static const Owner defaults;
  std::string value = *key.otherwise != '\0' ? key.otherwise : "";
  if (value.empty() && key.text != nullptr) value = defaults.*(key.text);
  if (key.number != nullptr || key.flag != nullptr) value = value_of(defaults, key);
  std::string allowed = key.allowed;
  if (key.number != nullptr) allowed = "at least " + std::to_string(key.minimum);
  if (*key.word != '\0') allowed += " or `\"" + std::string(key.word) + "\"`";
  if (key.flag != nullptr) allowed = "true|false";
  // A bar would end the cell.
  for (std::size_t at = allowed.find('|'); at != std::string::npos; at = allowed.find('|', at + 2))
    allowed.insert(at, "\\");
  if (!value.empty()) value = "`" + value + "`";
  return "| `" + std::string(key.name) + "` | " + value + " | " + allowed + " | " + key.meaning + " |\n";
}

template <typename Owner>
std::string table_of(const std::vector<Key<Owner>>& all) {
  std::string out = "| key | default | allowed | meaning |\n|---|---|---|---|\n";
  for (const Key<Owner>& key : all) out += row_of(key);
  return out;
}

}  // namespace

bool is_harmless(std::string_view kafka_property) {
  constexpr std::array<std::string_view, 21> kNames = {"security.protocol",
                                                       "sasl.mechanism",
                                                       "sasl.mechanisms",
                                                       "sasl.username",
                                                       "sasl.kerberos.service.name",
                                                       "sasl.kerberos.principal",
                                                       "sasl.kerberos.keytab",
                                                       "sasl.oauthbearer.method",
                                                       "sasl.oauthbearer.client.id",
                                                       "sasl.oauthbearer.scope",
                                                       "sasl.oauthbearer.token.endpoint.url",
                                                       "ssl.endpoint.identification.algorithm",
                                                       "ssl.cipher.suites",
                                                       "ssl.curves.list",
                                                       "ssl.sigalgs.list",
                                                       "enable.ssl.certificate.verification",
                                                       "enable.metrics.push",
                                                       "debug",
                                                       "client.dns.lookup",
                                                       "client.rack",
                                                       "linger.ms"};
  constexpr std::array<std::string_view, 8> kFamilies = {"broker.",     "socket.",     "reconnect.",  "connections.",
                                                         "compression", "statistics.", "api.version", "log."};
  if (is_secret(kafka_property)) return false;  // whatever else its name says
  if (std::find(kNames.begin(), kNames.end(), kafka_property) != kNames.end()) return true;
  if (kafka_property.starts_with("ssl.") && kafka_property.ends_with(".location")) return true;
  return std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](std::string_view family) { return kafka_property.starts_with(family); });
}

std::string print(const Settings& settings) {
  std::string out;
  print_table(out, settings, keys());
  if (!settings.kafka.empty()) out += "\n[kafka]\n";
  for (const auto& [name, value] : settings.kafka)
    out += quoted(name) + " = " + quoted(is_harmless(name) ? value : std::string(kMasked)) + "\n";
  for (const Target& target : settings.targets) {
    out += "\n[[target]]\n";
    print_table(out, target, target_keys());
  }
  for (const Route& route : settings.routes) {
    out += "\n[[route]]\n";
    print_table(out, route, route_keys());
  }
  for (const Step& step : settings.steps) {
    out += "\n[[step]]\n";
    print_table(out, step, step_keys());
  }
  return out;
}

std::string reference() {
  return table_of(keys()) + "\n## `[[target]]`\n\n" + table_of(target_keys()) +
         "\n## `[[route]]`\n\nWhich targets a request without `reseq-targets` has. The first route of which all "
         "conditions hold wins; without one, all\ntargets that are not `optional`.\n\n" +
         table_of(route_keys()) +
         "\n## `[[step]]`\n\nThe plan of the pipeline, so that `check` can say what is wrong with it before anything "
         "runs\n([failures](failures.md#a-plan-that-can-be-tried-again)). The resequencer does not run it.\n\n" +
         table_of(step_keys());
}

}  // namespace reseq::config
