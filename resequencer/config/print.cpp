#include "config/print.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <toml++/toml.h>

#include "base/secrets.h"

namespace reseq::config {

namespace {

constexpr std::string_view kMasked = "********";

// What stands above the tables of keys.
constexpr std::string_view kIntroduction = R"(# Configuration

A file in [TOML](https://toml.io), which commands get with `--config FILE`. This page is what
`resequencer config reference` prints; `resequencer config print --config FILE` prints every key with the value that is
in force.

`application.id`, `bootstrap.servers` and one `[[target]]` have to be there, everything else has a default:

```toml
application.id = "shop"
bootstrap.servers = "kafka-1:9092,kafka-2:9092"
dispatch.mode = "journal"       # or, the same, `mode = "journal"` below a line `[dispatch]`

[[target]]
name = "search"
```

A value is a text, a whole number, `true` or `false`, or a list of texts. What ends in `ms` is in milliseconds. An
unknown key is an error, which names the nearest one.

## Environment variables

Each key of the [first table](#keys) may be said by a variable as well, and the variable counts more than the file. Its
name is `RESEQ_` and the key in upper case, with underscores for dots and dashes. A list is separated by commas.

| key | variable |
|---|---|
| `bootstrap.servers` | `RESEQ_BOOTSTRAP_SERVERS=kafka-1:9092,kafka-2:9092` |
| `topic.dead-letter` | `RESEQ_TOPIC_DEAD_LETTER=shop.letters` |
| `http.page` | `RESEQ_HTTP_PAGE=false` |
| `unchanged_headers` | `RESEQ_UNCHANGED_HEADERS=tenant,language` |
| `sasl.password` below `[kafka]` | `RESEQ_KAFKA_SASL_PASSWORD=...` |

`[[target]]`, `[[route]]` and `[[step]]` stand in the file alone. A variable that is one or two letters away from that
of a key is an error; any other one that begins with `RESEQ_` is not read.

## `[kafka]`

Properties of librdkafka ([all of them](https://github.com/confluentinc/librdkafka/blob/master/CONFIGURATION.md)), for
every connection of the process to the brokers: what they want of TLS and of a login
([security](security.md#transport)), and whatever else librdkafka has:

```toml
[kafka]
"security.protocol" = "sasl_ssl"
"sasl.mechanism" = "PLAIN"
"sasl.username" = "reseq"
```

A variable says the same: `RESEQ_KAFKA_` and the property in upper case, with underscores for dots. A password belongs
there. Properties that its guarantees rest on, as `isolation.level` and `enable.idempotence`, the resequencer sets
itself, whatever stands here.

## Keys

)";

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
  return std::string(kIntroduction) + table_of(keys()) + "\n## `[[target]]`\n\n" + table_of(target_keys()) +
         "\n## `[[route]]`\n\nWhich targets a request without `reseq-targets` has. The first route of which all "
         "conditions hold wins; without one, all\ntargets that are not `optional`.\n\n" +
         table_of(route_keys()) +
         "\n## `[[step]]`\n\nThe plan of the pipeline, so that `check` can say what is wrong with it before anything "
         "runs\n([failures](failures.md#a-plan-that-can-be-tried-again)). The resequencer does not run it.\n\n" +
         table_of(step_keys());
}

}  // namespace reseq::config
